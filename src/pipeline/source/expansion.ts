import {
  type DeclaredDeployment,
  type DiscoveredStack,
  type Revision,
  type StackKey,
  stackKey,
  type StackwrightError,
} from "../../model/mod.ts";
import type { Reached } from "./look_into.ts";

/** A deployment after auto-discovery was expanded. */
export interface ExpandedDeployment {
  readonly declared: DeclaredDeployment;
  /** Set for a discovered deployment. */
  readonly found?: {
    /** The revision in which it was discovered: no other may be deployed. */
    readonly revision: Revision;
    readonly stack: DiscoveredStack;
  };
}

/** The stack of a deployment. */
export function keyOf({ declared: { deployment } }: ExpandedDeployment): StackKey {
  return stackKey(deployment.context, deployment.name);
}

/** A deployment that could not be expanded; the others go on without it. */
export interface FailedExpansion {
  readonly key: StackKey;
  readonly revision: Revision;
  readonly error: StackwrightError;
}

/** A directory that was searched for stacks. */
export interface ScannedBase {
  readonly base: DeclaredDeployment;
  readonly revision: Revision;
}

/** All deployments of a run. */
export interface Expansion {
  readonly deployments: readonly ExpandedDeployment[];
  readonly failures: readonly FailedExpansion[];
  readonly scans: readonly ScannedBase[];
  /** Names of the discoveries that took too long to reach: what they have is not known here. */
  readonly left: readonly string[];
  /** How all of these ended, once they have. */
  readonly late?: Promise<Reached>;
}
