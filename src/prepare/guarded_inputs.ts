import type { Files, Turns } from "../system/mod.ts";
import type { Declared } from "./declared_parts.ts";

/** A project about to be rendered. Paths are absolute. */
export interface GuardedProject {
  readonly tree: string;
  /** Base of the paths in the project's own files; compose must be started there. */
  readonly directory: string;
  readonly composeFiles: readonly string[];
  readonly envFiles: readonly string[];
}

/** Ports of the guard. */
export interface GuardParts {
  readonly files: Files;
  readonly turns: Turns;
  /** Interpolates texts exactly as compose does for the project. */
  interpolate(texts: readonly string[]): Promise<readonly string[]>;
}

/** Findings of the guard about a project that is safe to render. */
export interface GuardedInputs {
  /** Absolute paths of dotenv files that compose files name, as by `env_file`; may be missing. */
  readonly files: readonly string[];
  /** Whether a path has variables: rendering must use the same variables as the guard. */
  readonly interpolates: boolean;
  /** Variables of our own environment that compose files interpolate, with the file of the first use. */
  readonly own: ReadonlyMap<string, string>;
  /** What the project has, under whichever profile. */
  readonly declared: Declared;
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
