import { Buffer } from "node:buffer";
import { clip, type ComposeModel, errors, OWN_VARIABLES } from "../../model/mod.ts";
import {
  handedOver,
  isObject,
  objectAt,
  objectsAt,
  servicesOf,
  textAt,
  withExplicitBinds,
} from "../../compose/mod.ts";

/** Valid names of variables: compose interpolates no others, shells export functions by others. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Variables that control compose and docker themselves: a configuration that sets one is refused,
 * since it would change the program instead of a value.
 */
const CONTROLS_THE_PROGRAM = new RegExp(
  "^(?:PATH|HOME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_(?:FILE|DIR)|GO(?:DEBUG|TRACEBACK|GC|MEMLIMIT)" +
    "|LD_.*|XDG_.*|COMPOSE_.*|BUILDX_.*|BUILDKIT_.*|STACKWRIGHT_VALUE_.*" +
    "|DOCKER_(?:HOST|CONTEXT|CONFIG|AUTH_CONFIG|API_VERSION|CERT_PATH|TLS|TLS_VERIFY|BUILDKIT" +
    "|CONTENT_TRUST.*|CLI_.*|CUSTOM_HEADERS|HIDE_.*))$",
);

/**
 * Variables that libraries, interpreters or helper programs obey, and that a container may well
 * need: they are interpolated, but no program is started with them. Listing too many costs little:
 * within dotenv files of a deployment, versions of compose prefer these files' values to them.
 * That is why the others do not go by file as well. Where rendering is confined, compose alone gets
 * them; elsewhere `setsid` and `prlimit` do, which become it: values have no place on a command line.
 */
const STEERS_PROGRAMS = new RegExp(
  "^(?:(?:ACTIONS|AWS|AZURE|BASH|BUN|CURL|DBUS|DENO|DOCKER|DYLD|GIT|GOOGLE|GPG|JAVA|JSC|KUBE|LC" +
    "|MIMALLOC|NODE|NPM|NSS|OTEL|PERL|PYTHON|RES|RUBY|RUST|SSH|SSL|UV|VAULT)_.*" +
    "|(?:GO|PERL|PYTHON|RUBY|KUBE|JAVA|MALLOC|CLOUDSDK|GLIBC|GCONV|KRB5|LOC|HOSTALIAS|ZDOT|TZ|ZONE).*" +
    "|.*_PROXY|BASHOPTS|BROWSER|CDPATH|DISPLAY|EDITOR|ENV|FPATH|GLOBIGNORE|HOSTNAME|IFS|LANG" +
    "|LANGUAGE|LOGNAME|NLSPATH|PAGER|PROMPT_COMMAND|PS[0-4]|SHELL|SHELLOPTS|SSLKEYLOGFILE|TEMP" +
    "|TERM|TMP|USER|VISUAL)$",
  "i",
);

/** No remote compose files: only files of the deployment's own source are checked and recorded. */
const NO_REMOTE_FILES = {
  COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
  COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
} as const;

/**
 * Compose 5 builds with `buildx bake`, which asks on the terminal before it reads a Dockerfile
 * outside of its context. All inputs of a build were checked to be the repository's own before.
 */
const BUILDS_ASK_NOTHING = { BUILDX_BAKE_ENTITLEMENTS_FS: "0" } as const;

/**
 * Buildx runs git in the build's directory for its attestations. Files of a repository may imitate
 * a git directory there (`HEAD`, `objects`, `config`), whose configuration names programs for git
 * to run. The first variable keeps buildx from running git, the second every git from using it.
 */
const ASKS_NO_GIT = { BUILDX_GIT_INFO: "false", GIT_DIR: "/dev/null" } as const;

/**
 * Buildx keeps a seed for tokens in DOCKER_CONFIG for each name that the engine tells, without limit: the
 * engine of one context would fill what the builds of all read.
 */
const KEEPS_NO_SEEDS = { BUILDKIT_NO_CLIENT_TOKEN: "1" } as const;

/** Variables that single calls get besides: private directories, and one with credentials. */
const OF_A_CALL = ["TMPDIR", "DOCKER_CONFIG", "BUILDX_CONFIG"] as const;

/** Variable that docker sets for plugins, which expect a different command line without it. */
const AS_A_PLUGIN = { DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND: "docker" } as const;

/** The part of our environment that every compose command gets. */
export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const inherited = OWN_VARIABLES.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]]]
  );
  return { ...Object.fromEntries(inherited), ...AS_A_PLUGIN };
}

/** Prefix of the variables that hold values of configs and secrets for compose. */
const VALUE_PREFIX = "STACKWRIGHT_VALUE_";

/** Longest text passed in a program's environment: the kernel takes 128 KiB, name included. */
const LONGEST_TEXT = 64 * 1024;
/**
 * Limit for the whole environment. The kernel's limit for it and the arguments is a quarter of a stack:
 * 256 KiB for programs whose memory is bounded.
 */
const MOST_TEXT = 128 * 1024;
/** What the kernel counts beside name and value: a pointer, `=` and an end. */
const BYTES_BESIDE = 10;

/**
 * Versions of compose that find no `PWD` take it for their working directory, and prefer it to dotenv files:
 * that of a commit, which no container should depend on. An empty one keeps all versions from it.
 *
 * Go takes an absolute one for the name of its working directory where it leads there, as `/proc/self/cwd`
 * does anywhere, and resolves `..` in that text. Compose read files beside those that were looked at. No
 * version interpolates one that is not in its environment, so there is none.
 */
const WORKING_DIRECTORY = "PWD";

/** Whether Go may take a variable for the name of its working directory. */
function namesDirectory(name: string, value: string): boolean {
  return name === WORKING_DIRECTORY && value.startsWith("/");
}

/** Variables of a rendering: short and harmless ones in the environment, the others in a file. */
interface RenderVariables {
  readonly environment: Readonly<Record<string, string>>;
  /** Passed as a dotenv file, which compose reads itself after its start. */
  readonly byFile: Readonly<Record<string, string>>;
}

/**
 * The environment for rendering: the program's own variables, which always win, and variables for
 * interpolation that control no program. `PWD` is empty unless it is one of these.
 *
 * Throws `config_invalid` for a variable that would control the program, an absolute `PWD` included, and
 * for one whose name no compose file can use.
 */
export function renderVariables(
  program: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): RenderVariables {
  requireHarmless(variables);
  const entries = Object.entries(variables);
  const length = ([name, value]: readonly [string, string]) =>
    Buffer.byteLength(name + value) + BYTES_BESIDE;
  const isLong = (each: readonly [string, string]) => length(each) > LONGEST_TEXT;
  const isMuch = entries.reduce((sum, each) => isLong(each) ? sum : sum + length(each), 0) >
    MOST_TEXT;
  const goesByFile = (each: readonly [string, string]) =>
    each[0] !== WORKING_DIRECTORY && (isMuch || STEERS_PROGRAMS.test(each[0]) || isLong(each));
  return {
    environment: {
      ...Object.fromEntries(entries.filter((each) => !goesByFile(each))),
      ...program,
      ...NO_REMOTE_FILES,
      [WORKING_DIRECTORY]: variables[WORKING_DIRECTORY] ?? "",
    },
    byFile: Object.fromEntries(entries.filter(goesByFile)),
  };
}

interface ActingCall {
  readonly environment: Readonly<Record<string, string>>;
  readonly model: ComposeModel;
}

/**
 * Model and environment for compose when it builds, pulls or changes containers. Nothing is
 * interpolated any more, so neither compose nor the programs it starts (buildx, credential helpers)
 * get a variable of a repository. Configs and secrets find values of variables under a prefixed
 * name; where no containers are made, only the secrets of builds: variables of one program have a limit.
 * The model is what {@link handedOver} makes of it, and throws.
 */
export function actingCall(
  program: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
  model: ComposeModel,
  { makesContainers }: { readonly makesContainers: boolean },
): ActingCall {
  const values: Record<string, string> = {};
  const ofBuilds = new Set(
    Object.values(servicesOf(model)).flatMap((service) =>
      objectsAt(objectAt(service, "build"), "secrets").map((each) => textAt(each, "source"))
    ),
  );
  const renamed = (kind: "configs" | "secrets") => {
    if (!isObject(model[kind])) return {};
    const entries = Object.entries(objectAt(model, kind)).map(([key, resource]) => {
      const name = isObject(resource) ? textAt(resource, "environment") : "";
      if (!isObject(resource) || name === "") return [key, resource];
      const ours = VALUE_PREFIX + (NAME.test(name) ? name : "OF_NO_NAME");
      const isRead = makesContainers || (kind === "secrets" && ofBuilds.has(key));
      if (isRead && NAME.test(name) && Object.hasOwn(variables, name)) {
        values[ours] = variables[name] ?? "";
      }
      return [key, { ...resource, environment: ours }];
    });
    return { [kind]: Object.fromEntries(entries) };
  };
  const changed = { ...model, ...renamed("configs"), ...renamed("secrets") };
  const environment = {
    ...values,
    ...program,
    ...NO_REMOTE_FILES,
    ...BUILDS_ASK_NOTHING,
    ...ASKS_NO_GIT,
    ...KEEPS_NO_SEEDS,
  };
  const given = new Set([...Object.keys(environment), ...OF_A_CALL]);
  return { model: withExplicitBinds(handedOver(changed, given)), environment };
}

/** Variables as a dotenv file from which compose reads exactly the same values. */
export function dotenvText(variables: Readonly<Record<string, string>>): string {
  const escaped = (value: string) =>
    value.replace(/[\\"$]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r");
  return Object.entries(variables).map(([name, value]) => `${name}="${escaped(value)}"\n`).join("");
}

/** Whether a variable may be interpolated: its name is valid, and it does not control docker. */
export function canInterpolate(name: string, value: string): boolean {
  return NAME.test(name) && !CONTROLS_THE_PROGRAM.test(name) && !namesDirectory(name, value);
}

function requireHarmless(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (!NAME.test(name)) {
      throw errors.config_invalid(
        `environment: ${JSON.stringify(clip(name, 100))} is no name of a variable that a ` +
          "compose file could use; write letters, digits and underscores, no digit first",
      );
    }
    if (CONTROLS_THE_PROGRAM.test(name)) {
      throw errors.config_invalid(
        `environment.${name} would change how the docker program runs, not what is interpolated; ` +
          `give the variable another name, or put it into a file of env_files`,
      );
    }
    if (namesDirectory(name, value)) {
      throw errors.config_invalid(
        `${name} (of environment, a dotenv file or an external secret) is an absolute path, which ` +
          "docker compose may take for the directory that it reads files from; give the variable " +
          "another name there and in the compose files",
      );
    }
  }
}
