import {
  formatStackKey,
  isStackwrightError,
  type RunReporter,
  type StackKey,
} from "../../model/mod.ts";
import { type ExpandedDeployment, keyOf } from "../expand_deployments.ts";
import {
  ASKED_MS,
  type OpenedSource,
  openSource,
  polledOf,
  type SourceRun,
} from "../open_source.ts";
import { requestsOf, stacksLed } from "../owner/other_branch.ts";
import type { PipelineParts } from "../parts.ts";
import { requestLocation } from "../resolve_revision.ts";

/** Sources of other branches than a webhook is about, whose files deploy stacks from that. */
interface LedSources {
  readonly sources: readonly {
    readonly opened: OpenedSource;
    /** The stacks that it names, of those that are deployed from the branch that was pushed. */
    readonly deployments: readonly ExpandedDeployment[];
  }[];
  /** These stacks, and those that a source may name which cannot be read. */
  readonly keys: readonly StackKey[];
  /** Why sources cannot be read. */
  readonly errors: readonly unknown[];
}

/**
 * Opens the files of other branches that deploy stacks from the one that a webhook is about: what is pushed
 * there is these files' to deploy. None where the run is no webhook's, or the ledger has no such stack.
 */
async function openLed(
  parts: PipelineParts,
  run: SourceRun,
  signal: AbortSignal,
): Promise<LedSources> {
  const sources: LedSources["sources"][number][] = [];
  const [keys, errors]: [StackKey[], unknown[]] = [[], []];
  const { trigger, request: pushed } = run;
  if (trigger !== "webhook") return { sources, keys, errors };
  const { name: source } = requestLocation(pushed);
  for (const [branch, led] of stacksLed(parts.ledger, { source, request: pushed })) {
    let left = new Map(led.map((key) => [formatStackKey(key), key]));
    for (const request of requestsOf(branch, polledOf(parts, source), { request: pushed })) {
      try {
        const opened = await openSource(
          parts,
          { ...run, patience: ASKED_MS, request, pushed },
          SILENT,
          signal,
        );
        const named = opened.expansion.deployments
          .filter((each) => left.delete(formatStackKey(keyOf(each))));
        sources.push({ opened, deployments: named });
        keys.push(...named.map(keyOf));
        if (opened.expansion.left.length === 0) continue;
        // What is not reached may name the rest.
        keys.push(...left.values());
        left = new Map();
      } catch (error) {
        signal.throwIfAborted();
        if (isStackwrightError(error, "config_not_found", "reference_not_found")) continue;
        errors.push(error);
        keys.push(...left.values());
        left = new Map();
      }
    }
  }
  return { sources, keys, errors };
}

/** Leaves repository and revision out: a run of several sources has no single one. */
export function oneOfMany(reporter: Pick<RunReporter, "describe">): Pick<RunReporter, "describe"> {
  return { describe: ({ repository: _one, revision: _its, ...facts }) => reporter.describe(facts) };
}

const SILENT = { describe: () => {} };

/** Work on a source, and on those of other branches that lead stacks of it. */
interface LedWork {
  /** Work on all that the source names but the stacks that others lead. */
  readonly own: (led: readonly StackKey[]) => Promise<void>;
  readonly theirs: (
    opened: OpenedSource,
    deployments: readonly ExpandedDeployment[],
  ) => Promise<void>;
}

/**
 * Does the work of a run on its source, and, where a webhook is about a branch from which other branches' files
 * deploy stacks, on these in the name of those files. Throws what the first of them throws, when all are done.
 */
export async function withLed(
  parts: PipelineParts,
  run: SourceRun,
  { own, theirs }: LedWork,
  signal: AbortSignal,
): Promise<void> {
  const led = await openLed(parts, run, signal);
  const results = await Promise.allSettled([
    own(led.keys),
    ...led.sources.map(({ opened, deployments }) => theirs(opened, deployments)),
  ]);
  const failed = results.flatMap((each) => each.status === "rejected" ? [each.reason] : [])
    // A branch that others lead needs no file of its own.
    .filter((error) => led.keys.length === 0 || !isStackwrightError(error, "config_not_found"));
  for (const error of [...failed, ...led.errors]) throw error;
}
