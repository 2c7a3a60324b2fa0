/** The project a compose command is about. */
export interface ComposeProject {
  readonly name: string;
  /** Base of relative paths, and a label on every container: the same in every release. */
  readonly directory: string;
  /** Compose files; `-` is standard input. */
  readonly files: readonly string[];
  /** Dotenv files for rendering, later ones win; rendered models need none. */
  readonly envFiles: readonly string[];
  readonly profiles: readonly string[];
  /** Checkout of what is deployed, which rendering reads. */
  readonly tree?: string | undefined;
  /** Checkout of its configuration, if that is another one; of it only dotenv files are read. */
  readonly configurationTree?: string | undefined;
}

/** A command line without the program, which the caller adds. */
export type ComposeArguments = readonly string[];

/** Prints the model, fully resolved. */
export function configArguments(project: ComposeProject): ComposeArguments {
  return [
    ...common(project, project.envFiles),
    ...project.profiles.flatMap((profile) => ["--profile", profile]),
    ...["config", "--format", "json"],
  ];
}

/** Fetches the images of exactly `services`. */
export function pullArguments(
  project: ComposeProject,
  services: readonly string[],
): ComposeArguments {
  return [...common(project), "pull", "--ignore-buildable", "--policy", "always", ...services];
}

/** Arguments of a build; values for images are in the model, since command lines are public. */
export interface BuildArguments {
  readonly services: readonly string[];
  readonly pull: boolean;
  readonly noCache: boolean;
  readonly quiet: boolean;
}

/** Builds the images of `services`. */
export function buildArguments(project: ComposeProject, build: BuildArguments): ComposeArguments {
  return [
    ...common(project),
    "build",
    ...(build.pull ? ["--pull"] : []),
    ...(build.noCache ? ["--no-cache"] : []),
    ...(build.quiet ? ["--quiet"] : []),
    ...build.services,
  ];
}

/** Services to bring up: replaced in any case, or only completed. */
export interface UpArguments {
  /** `roll` follows each service's update rules; compose has none and replaces all at once. */
  readonly mode: "replace" | "roll" | "complete";
  /** Wanted number of containers of each service named. */
  readonly scale: Readonly<Record<string, number>>;
  readonly noStart: boolean;
}

/**
 * Makes containers of exactly the services in `scale`. `--no-deps` keeps compose from widening the list
 * by rules that differ between versions. Images are present, so compose may neither build nor pull.
 */
export function upArguments(project: ComposeProject, up: UpArguments): ComposeArguments {
  const services = Object.keys(up.scale);
  return [
    ...common(project),
    "up",
    up.noStart ? "--no-start" : "--detach",
    ...["--no-deps", "--no-build", "--pull", "never"],
    up.mode === "complete" ? "--no-recreate" : "--force-recreate",
    ...Object.entries(up.scale).flatMap(([name, count]) => ["--scale", `${name}=${count}`]),
    ...services,
  ];
}

/** Prints only the version of compose. */
export const VERSION_ARGUMENTS: ComposeArguments = ["compose", "version", "--short"];

/** An empty dotenv file: without any, compose reads the `.env` of the project's directory. */
const NO_ENV_FILE = "/dev/null";

function common(project: ComposeProject, envFiles: readonly string[] = []): string[] {
  return [
    ...["compose", "--ansi", "never", "--progress", "plain"],
    ...["--project-name", project.name, "--project-directory", project.directory],
    ...project.files.flatMap((file) => ["--file", file]),
    ...(envFiles.length === 0 ? [NO_ENV_FILE] : envFiles).flatMap((file) => ["--env-file", file]),
  ];
}
