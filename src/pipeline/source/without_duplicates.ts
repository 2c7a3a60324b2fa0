import { duplicateStacks } from "../../config/mod.ts";
import { formatStackKey, stackKey } from "../../model/mod.ts";
import type { ExpandedDeployment, Expansion, FailedExpansion } from "./expansion.ts";
import { configuredTwice, OF_POLL } from "../owner/other_polls.ts";
import { lastPart, type Looks } from "./look_into.ts";

/**
 * The deployments of a run whose names are unique in their context, and failures of those that have
 * the name of another one. What is written down stays, else what the configuration's own repository
 * has, else none. Throws `config_invalid` for a name that is written down twice.
 */
export function withoutDuplicates(
  expansions: readonly Expansion[],
  { request, configuration: { source } }: Pick<Looks, "request" | "configuration">,
): { readonly kept: ExpandedDeployment[]; readonly failures: FailedExpansion[] } {
  const all = expansions.flatMap((each) =>
    each.deployments.map((deployment) => ({ ...deployment, base: each.scans[0]?.base.deployment }))
  );
  const failed = new Set<number>();
  const failures = new Map<string, FailedExpansion>();
  for (const twice of duplicateStacks(all.map((each) => each.declared.deployment))) {
    const places = twice.map((index) => placeOf(all[index], request));
    const error = configuredTwice(all[twice[0] ?? 0]?.declared.deployment.name, places);
    const written = twice.filter((index) => all[index]?.found === undefined);
    if (written.length > 1) throw error;
    const own = twice.filter((index) => all[index]?.found?.revision.source.name === source.name);
    const stays = written[0] ?? (own.length === 1 ? own[0] : undefined);
    for (const index of twice.filter((each) => each !== stays)) {
      const { base, found, declared } = all[index] ?? {};
      if (found === undefined || declared === undefined) continue;
      // Told under the name of the searched directory, unless nobody else is told under its own.
      const place = base && (base.name || lastPart(base.workingDir));
      const name = stays === undefined || !place ? declared.deployment.name : place;
      const key = stackKey(declared.deployment.context, name);
      failed.add(index);
      failures.set(`${formatStackKey(key)} ${error.message}`, {
        key,
        revision: found.revision,
        error,
      });
    }
  }
  const kept = all.filter((_, index) => !failed.has(index)).map(({ base: _, ...each }) => each);
  return { kept, failures: [...failures.values()] };
}

const placeOf = (each: ExpandedDeployment | undefined, { deployments }: Looks["request"]) =>
  `${each?.found?.stack.directory ?? each?.declared.deployment.workingDir}` +
  (each && deployments.includes(each.declared) ? OF_POLL : "");
