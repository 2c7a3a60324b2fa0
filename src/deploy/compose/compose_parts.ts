import type { ComposeModel } from "../../model/mod.ts";
import type { Commands, Limiter, Log } from "../../system/mod.ts";
import type { ComposeProject } from "./command.ts";
import type { RegistryLogins } from "./registry_logins.ts";

/** One compose project, and the variables its commands run with. */
export interface ComposeCall {
  readonly project: ComposeProject;
  /** Variables for interpolation when it is rendered, then for the values of configs and secrets only. */
  readonly variables: Readonly<Record<string, string>>;
  /** Written to standard input where the project's file is `-`: rendered models never touch the disk. */
  readonly model?: ComposeModel;
  /**
   * Whether nothing that is rendered names a variable of Go's garbage collector, so that the program may
   * be started with some; false by default.
   */
  readonly collectsSeldom?: boolean;
}

/** Parts of {@link Compose}. */
export interface ComposeParts {
  readonly commands: Commands;
  /** The program that is called with `compose …`; `docker` where nobody knows better. */
  readonly findProgram?: () => Promise<string>;
  /** Variables the docker program itself needs, see `programEnvironment`. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Where variables are written that no program may be started with. */
  readonly scratch: {
    readonly files: RegistryLogins["files"];
    /** Beginning of the name of private directories. */
    readonly prefix: string;
  };
  /** Further credentials for registries, for what fetches images; see {@link withRegistryLogins}. */
  readonly logins?: Pick<RegistryLogins, "directory" | "logins">;
  /** Bounds how many projects are rendered at once; nothing does where there is none. */
  readonly rendering?: Limiter;
  /** Whether what programs print on their way is told at `debug` only (the default), not at `info`. */
  readonly quiet?: boolean;
  /** Told before each command that changes something on the engine. */
  readonly onMutation?: () => void;
}
