/** A path of a rendered model that is resolved on a file system. */
export interface FollowedPath {
  /** Its use, for messages: `service web: build context`. */
  readonly what: string;
  /** Absolute path. */
  readonly path: string;
  /**
   * Who resolves it: `us` for compose and buildx, with this service's rights, or the engine, which
   * mounts it from its host into a container.
   */
  readonly by: "us" | "engine";
  /** Whether even a path in the tree is refused, since it is not rewritten to a stable one. */
  readonly everywhere?: boolean;
  /** Whether a volume has this path, so that its place on the host shows the content to all. */
  readonly ofVolume?: boolean;
  /** Whether it may lie in the live directory or the files of a stack, as volumes that we made may. */
  readonly mayBeLive?: boolean;
}

/** References of a rendered model to anything outside of it. */
export interface FollowedPaths {
  readonly paths: readonly FollowedPath[];
  /** Named volumes of the engine, with their use. */
  readonly volumes: readonly { readonly what: string; readonly name: string }[];
  /** Containers, by name or id, whose mounts a service gets, in whatever project. */
  readonly containers: readonly { readonly what: string; readonly name: string }[];
  /** Containers, by name or id, whose processes, network or memory a service shares. */
  readonly shared: readonly { readonly what: string; readonly name: string }[];
  /** Settings that no repository may use, as clauses. */
  readonly refused: readonly string[];
}
