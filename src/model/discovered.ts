import type { StackKey } from "./stack_key.ts";
import type { AutoDiscoveryOptions } from "./deployment.ts";

/** The configuration that discovers a stack, and that alone may remove it. */
export interface DiscoveryOwner {
  /** Name of the source whose configuration discovers it. */
  readonly source: string;
  /** Configuration target; empty for the default file. */
  readonly target: string;
  /** Reference the configuration was read at, in full. */
  readonly reference: string;
}

/** A stack that was discovered, as it was deployed last. */
export interface DiscoveredStack {
  readonly key: StackKey;
  readonly owner: DiscoveryOwner;
  /** Name of the source it was found in. */
  readonly repository: string;
  /** Directory it was found in, relative to the root of that source. */
  readonly directory: string;
  /** What was asked for in case it vanishes. */
  readonly policy: Pick<AutoDiscoveryOptions, "delete" | "removeVolumes" | "removeImages">;
}
