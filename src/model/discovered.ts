import type { StackKey } from "./stack_key.ts";
import type { AutoDiscoveryOptions } from "./deployment.ts";

/** The configuration that names a stack; a discovered stack may be removed by no other. */
export interface DiscoveryOwner {
  /** Name of the source with the configuration. */
  readonly source: string;
  /** Configuration target; empty for the default file, its own for deployments of polls. */
  readonly target: string;
  /** Reference the configuration was read at, in full. */
  readonly reference: string;
}

/** A stack that a configuration named or discovered, as of its last deployment. */
export interface DiscoveredStack {
  readonly key: StackKey;
  readonly owner: DiscoveryOwner;
  /** Name of the source it was found in; only used with `policy`, as is `directory`. */
  readonly repository: string;
  /** Directory it was found in, relative to the root of that source. */
  readonly directory: string;
  /** Compose files in it by which it was found, where its configuration says which names these have. */
  readonly files?: readonly string[] | undefined;
  /** What to do once nothing names the stack; absent for a stack that was not discovered. */
  readonly policy?: Pick<AutoDiscoveryOptions, "delete" | "removeVolumes" | "removeImages">;
  /** Stacks that were new when a run found this one unnamed, if any were: it may have been renamed to one. Absent while it is named. */
  readonly fresh?: readonly StackKey[];
  /** Set where it was removed but for its data, which could not be deleted. */
  readonly isLeft?: boolean;
}
