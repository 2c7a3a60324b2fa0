/** Findings of the guard about a project that is safe to render. */
export interface GuardedInputs {
  /** Absolute paths of dotenv files that compose files name, as by `env_file`; may be missing. */
  readonly files: readonly string[];
  /** Whether a path has variables: rendering must use the same variables as the guard. */
  readonly interpolates: boolean;
  /** Variables of our own environment that compose files interpolate, with the file of the first use. */
  readonly own: ReadonlyMap<string, string>;
  /**
   * Digests of all files that {@link GuardedInputs.areSame} is about, by absolute path, with those that are missing:
   * what compose reads differs only where one of them does.
   */
  readonly states: ReadonlyMap<string, string>;
  /**
   * Whether all files that the answer rests on, and those that compose reads besides, still have the
   * content they had; ask after compose has read them.
   */
  areSame(): Promise<boolean>;
}
