import { formatOwner, type StackKey, type StackOwner } from "../model/mod.ts";
import { deployedBy, type DeploymentsOfLedger } from "./deployed_by.ts";
import type { Ledger } from "./ledger.ts";
import type { RecordedOwner } from "./owners.ts";
import { otherOwner, recordedOwner } from "./recorded_owner.ts";

/**
 * The stacks whose locks a job of stack `key` takes that stops services: those that it may stop by
 * {@link whoseStop} alone, since others' deployments must not wait. Sorted by their names.
 */
export function locksOfJob(
  ledger: DeploymentsOfLedger & Pick<Ledger, "history">,
  key: StackKey,
  stops: readonly { readonly project: string }[],
): StackKey[] {
  const others = stops.map(({ project }) => project).filter((name) => {
    const owner = recordedOwner(ledger, { ...key, name });
    return owner !== undefined && whoseStop(ledger, key, name) === undefined;
  });
  return [...new Set([key.name, ...others])].sort().map((name) => ({ ...key, name }));
}

/** What is known of a project's owner beside the ledger's owner in the context of a job. */
export interface OthersSay {
  /** The source of a container of it that is another's than an owner's. */
  readonly anothers?: (owner: StackOwner | undefined) => string | undefined;
  /** Its owners by other contexts that lead to the same engine. */
  readonly elsewhere?: readonly StackOwner[];
}

/**
 * The owner of a project that a job of stack `key` may not stop; `undefined` where it may: its own
 * repository and branch deployed it, or Stackwright did not. Where the ledger has no owner in the
 * context of the job, others tell, each of which may refuse: the owners by other contexts of this
 * engine, which may lie, and its containers. These also tell of a stack with an owner: another manager's
 * containers may have come under its name.
 *
 * Nor may it stop what another context of its engine deploys, be that its own source: it holds the locks of its own
 * context alone, so deployments, events and polls of that one would start it again beside the job.
 *
 * A configuration may deploy other repositories. Their jobs stop what is deployed from the same one,
 * since their authors are not the configuration's; the repository is returned where that differs.
 */
export function whoseStop(
  ledger: DeploymentsOfLedger & Pick<Ledger, "history">,
  key: StackKey,
  project: string,
  { anothers, elsewhere = [] }: OthersSay = {},
): string | undefined {
  if (project === key.name) return undefined;
  const own = recordedOwner(ledger, key);
  const here = recordedOwner(ledger, { ...key, name: project });
  const from = repositoryOf(ledger, key, own);
  const mayStopAll = from === own?.source;
  for (const owner of here === undefined ? elsewhere : [here]) {
    const other = otherOwner(owner, own);
    if (other !== undefined) return formatOwner(other);
    const theirs = repositoryOf(ledger, { ...key, name: project }, owner);
    if (!mayStopAll && theirs !== from) return theirs;
  }
  const by = byOtherContext(ledger, { ...key, name: project }, own);
  return by ?? anothers?.(here ?? (mayStopAll ? own : undefined));
}

/** Words for an owner's stack that another context of its engine deploys; `undefined` where its own one does. */
export function byOtherContext(
  ledger: DeploymentsOfLedger,
  key: StackKey,
  owner: StackOwner | undefined,
): string | undefined {
  const context = deployedBy(ledger, key, owner);
  return context && `the same source by context ${context}, which leads to the same engine`;
}

/** The repository that a stack is deployed from; its owner's own one while no release is known. */
function repositoryOf(
  ledger: Pick<Ledger, "owners" | "current" | "history">,
  key: StackKey,
  owner: Pick<RecordedOwner, "source"> | undefined,
): string | undefined {
  const release = ledger.current(key) ?? ledger.history(key, 1)[0];
  return release?.revision.source.name ?? owner?.source;
}
