import { type IgnoreScope, parseRecreateIgnore, type RecreateIgnore } from "../config/mod.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  StackwrightError,
} from "../model/mod.ts";
import { labelsOf, servicesOf } from "./compose_model.ts";
import type { TreeUse } from "./tree_paths.ts";

const SCOPE_OF: Readonly<Record<TreeUse["kind"], IgnoreScope | undefined>> = {
  bind: "bindMounts",
  config: "configs",
  secret: "secrets",
  build: undefined,
};

/** What the services of a release want done in place. */
export interface IgnoredUses {
  /** Uses whose content is kept up to date in place and does not replace a container. */
  readonly uses: ReadonlySet<TreeUse>;
  /** Signal to send after such a change, by service. */
  readonly signals: ReadonlyMap<string, string>;
}

/**
 * The uses that services exempt from replacing them (`stackwright.deployment.recreate.ignore`).
 *
 * Throws `config_invalid`, naming the service, when a label cannot be read or names something that is
 * no file of the source mounted by that service: a misspelt name must not replace containers silently.
 */
export function ignoredUses(model: ComposeModel, uses: readonly TreeUse[]): IgnoredUses {
  const ignored = new Set<TreeUse>();
  const signals = new Map<string, string>();
  for (const [name, service] of Object.entries(servicesOf(model))) {
    const asked = readLabels(name, labelsOf(service));
    if (asked === undefined) continue;
    const own = uses.filter((use) => use.service === name);
    requireKnown(name, asked, own);
    for (const use of own.filter((each) => isIgnored(each, asked))) ignored.add(use);
    if (asked.signal !== undefined) signals.set(name, asked.signal);
  }
  return { uses: ignored, signals };
}

function readLabels(service: string, labels: Readonly<Record<string, string>>) {
  try {
    return parseRecreateIgnore({
      ignore: behaviourLabel(labels, BEHAVIOUR_LABELS.recreateIgnore),
      signal: behaviourLabel(labels, BEHAVIOUR_LABELS.recreateIgnoreSignal),
    });
  } catch (cause) {
    throw new StackwrightError(
      "config_invalid",
      `service ${service}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function isIgnored(use: TreeUse, asked: RecreateIgnore): boolean {
  const scope = SCOPE_OF[use.kind];
  const items = scope === undefined ? undefined : asked.items.get(scope);
  return items === "all" || (items?.includes(use.item) ?? false);
}

function requireKnown(service: string, asked: RecreateIgnore, own: readonly TreeUse[]): void {
  for (const [scope, items] of asked.items) {
    const known = own.filter((use) => SCOPE_OF[use.kind] === scope).map((use) => use.item);
    const unknown = items === "all" ? undefined : items.find((item) => !known.includes(item));
    if (unknown === undefined) continue;
    const there = known.length === 0 ? "none" : known.join(", ");
    throw new StackwrightError(
      "config_invalid",
      `service ${service}: label ${BEHAVIOUR_LABELS.recreateIgnore}: ${scope} ${unknown} is no ` +
        `file of the repository that the service mounts; there is ${there}`,
    );
  }
}
