import { formatOwner, isSameOwner, type StackKey, type StackOwner } from "../model/mod.ts";
import type { Ledger } from "./ledger.ts";
import { recordedOwner } from "./recorded_owner.ts";

/**
 * The stacks whose locks a job of stack `key` takes that stops services: those of its own repository
 * and branch alone, since others' deployments must not wait. Sorted by their names.
 */
export function locksOfJob(
  ledger: Ledger,
  key: StackKey,
  stops: readonly { readonly project: string }[],
): StackKey[] {
  const own = recordedOwner(ledger, key);
  const others = stops.map(({ project }) => project).filter((name) => {
    const owner = recordedOwner(ledger, { ...key, name });
    return own !== undefined && owner !== undefined && isSameOwner(owner, own);
  });
  return [...new Set([key.name, ...others])].sort().map((name) => ({ ...key, name }));
}

/** What is known of a project's owner beside the ledger's owner in the context of a job. */
interface OthersSay {
  /** Sources that the labels of its containers name. */
  readonly labelled: readonly string[];
  /** Its owner by another context that leads to the same engine. */
  readonly elsewhere?: StackOwner | undefined;
}

/**
 * The owner of a project that a job of stack `key` may not stop; `undefined` where it may: its own
 * repository and branch deployed it, or Stackwright did not. Where the ledger has no owner in the
 * context of the job, others tell: the owner by another context of this engine, else the labels.
 */
export function whoseStop(
  ledger: Pick<Ledger, "owners" | "current">,
  key: StackKey,
  project: string,
  { labelled, elsewhere }: OthersSay,
): string | undefined {
  if (project === key.name) return undefined;
  const own = recordedOwner(ledger, key);
  const recorded = recordedOwner(ledger, { ...key, name: project }) ?? elsewhere;
  if (recorded === undefined) return labelled.find((each) => each !== own?.source);
  return own !== undefined && isSameOwner(recorded, own) ? undefined : formatOwner(recorded);
}
