/** One path of a rendered model that somebody follows on a file system. */
export interface FollowedPath {
  /** `service web: build context`, for messages. */
  readonly what: string;
  /** Absolute. */
  readonly path: string;
  /**
   * Who follows it: `us`, with the rights of this service, or the engine, which mounts it from its
   * host into a container.
   */
  readonly by: "us" | "engine";
  /** Whether even a path in the tree is refused: it would not be led to a stable place. */
  readonly everywhere?: boolean;
}

/** Paths of a rendered model that leave the source. */
export interface FollowedPaths {
  readonly paths: readonly FollowedPath[];
  /** Named volumes as the engine knows them, by what uses them. */
  readonly volumes: readonly { readonly what: string; readonly name: string }[];
  /** Containers, by name or id, whose mounts a service gets, whatever project they are of. */
  readonly containers: readonly { readonly what: string; readonly name: string }[];
  /** Containers whose processes, network or memory a service shares, by name or id. */
  readonly shared: readonly { readonly what: string; readonly name: string }[];
  /** Parts that no repository may use, a clause each. */
  readonly refused: readonly string[];
}
