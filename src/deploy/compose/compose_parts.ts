import type { ComposeModel } from "../../model/mod.ts";
import type { Commands, FairLimiter, Files, Lend, Log } from "../../system/mod.ts";
import type { ComposeProject } from "./command.ts";
import type { RegistryLogins } from "./registry_logins.ts";

/** One compose project, and the variables its commands run with. */
export interface ComposeCall {
  readonly project: ComposeProject;
  /** Variables for interpolation; in a rendered model only for values of configs and secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Standard input, where the project's file is `-`: rendered models never touch the disk. */
  readonly model?: ComposeModel;
  /**
   * Whether the project cannot interpolate variables of Go's garbage collector, so that the program
   * may be started with them; false by default.
   */
  readonly collectsSeldom?: boolean;
  /**
   * Throws if the program may have read other files than it should have; asked when it has ended,
   * before anything that it printed is told or used.
   */
  requireSame?(): Promise<void>;
}

/** Parts of {@link Compose}. */
export interface ComposeParts {
  readonly commands: Commands;
  /** The program that is called with `compose …`; `docker` by default. */
  readonly findProgram?: () => Promise<string>;
  /** Whether docker finds its plugin `buildx`; taken for granted by default. */
  readonly hasBuildx?: () => Promise<boolean>;
  /** Variables the docker program itself needs, see `programEnvironment`. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Place for variables that must not be in a program's environment. */
  readonly scratch: {
    readonly files: RegistryLogins["files"] & Pick<Files, "makeDirectory" | "stat">;
    /** Prefix of the names of private directories. */
    readonly prefix: string;
  };
  /** Further registry credentials for fetching images; see {@link withRegistryLogins}. */
  readonly logins?: Pick<RegistryLogins, "directory" | "logins">;
  /** Bounds how many projects are rendered at once; unbounded by default. */
  readonly rendering?: FairLimiter;
  /** The source for which projects are rendered, and how its work waits meanwhile. */
  readonly renders?: { readonly lend: Lend; readonly who: string };
  /** Whether output of programs is logged at `debug` (the default) instead of `info`. */
  readonly quiet?: boolean;
  /** Called before each command that changes something on the engine. */
  readonly onMutation?: () => void;
}
