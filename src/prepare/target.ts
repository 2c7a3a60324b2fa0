import type {
  DeclaredDeployment,
  Deployment,
  DiscoveredStack,
  Origin,
  Progress,
  Revision,
  StackKey,
  SwarmRelease,
  Trigger,
} from "../model/mod.ts";
import type { Glance, Neighbours } from "../deploy/mod.ts";
import type { SecretSession } from "../secrets/mod.ts";
import { claimAsOwner, sourceAsOwner, stackAsOwner } from "../system/mod.ts";

/** One deployment of one run, as the pipeline's steps pass it on. */
export interface Target {
  readonly key: StackKey;
  readonly declared: DeclaredDeployment;
  readonly deployment: Deployment;
  readonly revision: Revision;
  /** The revision of its configuration; from another source with `repository_url`. */
  readonly configuration: Revision;
  /** Whether nobody owns the stack by the ledger, so that other sources may name it as well. */
  readonly isNobodys?: boolean;
  readonly discovered?: DiscoveredStack;
  /** Set for a stack of a swarm, once that is known; absent for containers. */
  readonly swarm?: SwarmRelease;
  /** Configuration target; empty for the default file. */
  readonly configTarget: string;
  readonly trigger: Trigger;
  readonly origin: Origin;
  readonly progress: Progress;
  /** The time since when it waits for its stack, of which a person's attempt may end meanwhile. */
  readonly since?: Date;
  /** Shared observations of the stacks of one run; by default each is observed separately. */
  readonly glance?: Glance;
  /** What else its configuration names, where the run looked for that, and wants; and whether that is all. */
  readonly neighbours?: Neighbours & {
    readonly wanted: readonly StackKey[];
    readonly complete: boolean;
  };
  /** Whether its neighbours are deployed as wanted after their turns, where that is foretold; a run waits for it. */
  readonly foretold?: ((key: StackKey) => boolean) | undefined;
  /** Whether another target may make a missing network or volume: another try is worth it. */
  readonly mayLack?: boolean;
  /**
   * Ids of images that this run has brought for what it decided before, each by what was done for which release: what
   * runs may change meanwhile, and it decides again. By default each decision brings its own.
   */
  readonly ahead?: Map<string, Readonly<Record<string, string>>>;
  /** Shared reads of external secrets by the targets of one run; separate by default. */
  readonly secretSession?: SecretSession;
}

/** The owner of what is hidden while a target is prepared. */
export function hidingOwner(
  { key, configuration, isNobodys }: Pick<Target, "key" | "configuration" | "isNobodys">,
): string {
  return isNobodys === true ? claimAsOwner(key, configuration.source.name) : stackAsOwner(key);
}

/**
 * The owner of what is encrypted in the files of a target, or of a release, at a revision. A source's own
 * configuration says what is deployed from it; others may name any commit, also one that is only proposed
 * to it: the words of that are their stack's alone, and count for them.
 */
export function filesOwner(
  of: Pick<Target, "key" | "isNobodys"> & Partial<Pick<Target, "configuration">>,
  at: Revision,
): string {
  const { configuration = at } = of;
  const isOwn = configuration.source.name === at.source.name;
  return isOwn ? sourceAsOwner(at.source.name) : hidingOwner({ ...of, configuration });
}
