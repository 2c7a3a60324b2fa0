import type { StackKey } from "./stack_key.ts";
import type { AutoDiscoveryOptions } from "./deployment.ts";

/** The configuration that names a stack, and that alone may remove it where it was discovered. */
export interface DiscoveryOwner {
  /** Name of the source with the configuration. */
  readonly source: string;
  /** Configuration target; empty for the default file, and another one for deployments of polls. */
  readonly target: string;
  /** Reference the configuration was read at, in full. */
  readonly reference: string;
}

/** A stack that a configuration named or discovered, as it was deployed last. */
export interface DiscoveredStack {
  readonly key: StackKey;
  readonly owner: DiscoveryOwner;
  /** Name of the source it was found in; this and the directory are of no use without a policy. */
  readonly repository: string;
  /** Directory it was found in, relative to the root of that source. */
  readonly directory: string;
  /** What was asked for in case it vanishes; nothing where a document names it by itself. */
  readonly policy?: Pick<AutoDiscoveryOptions, "delete" | "removeVolumes" | "removeImages">;
}
