import { Buffer } from "node:buffer";
import { type ComposeModel, errors } from "../../model/mod.ts";
import { isObject, objectAt, servicesOf, textAt, withExplicitBinds } from "../../compose/mod.ts";

/**
 * What a variable may be called: nothing else can be interpolated, and shells export functions as
 * others.
 */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Variables that compose and docker themselves obey: a configuration that sets one means something
 * else.
 */
const CONTROLS_THE_PROGRAM = new RegExp(
  "^(?:PATH|HOME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_(?:FILE|DIR)|GO(?:DEBUG|TRACEBACK|GC|MEMLIMIT)" +
    "|LD_.*|XDG_.*|COMPOSE_.*|BUILDX_.*|BUILDKIT_.*|STACKWRIGHT_VALUE_.*" +
    "|DOCKER_(?:HOST|CONTEXT|CONFIG|AUTH_CONFIG|API_VERSION|CERT_PATH|TLS|TLS_VERIFY|BUILDKIT" +
    "|CONTENT_TRUST.*|CLI_.*|CUSTOM_HEADERS|HIDE_.*))$",
);

/**
 * Variables that some library, interpreter or helper program obeys, and that a container may well need:
 * they are interpolated, but no program is started with them. A name too many costs nothing.
 */
const STEERS_PROGRAMS = new RegExp(
  "^(?:(?:ACTIONS|AWS|AZURE|BASH|BUN|CURL|DBUS|DENO|DOCKER|GIT|GOOGLE|GPG|JAVA|KUBE|LC|MALLOC|NODE" +
    "|NPM|NSS|OTEL|PERL|PYTHON|RES|RUBY|SSH|SSL|VAULT)_.*" +
    "|(?:GO|PERL|PYTHON|RUBY|KUBE|JAVA|CLOUDSDK|GLIBC|GCONV|KRB5|LOC|HOSTALIAS|ZDOT|TZ|ZONE).*" +
    "|.*_PROXY|BASHOPTS|BROWSER|CDPATH|DISPLAY|EDITOR|ENV|FPATH|GLOBIGNORE|HOSTNAME|IFS|LANG" +
    "|LANGUAGE|LOGNAME|NLSPATH|PAGER|PROMPT_COMMAND|PS[0-4]|PWD|SHELL|SHELLOPTS|SSLKEYLOGFILE|TEMP" +
    "|TERM|TMP|USER|VISUAL)$",
  "i",
);

/**
 * Variables of our own environment that the docker program needs to find the engine and credentials.
 * A compose file can interpolate every one of them, so none may be a secret: proxies are left out.
 */
const INHERITED = [
  ...["PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["BUILDX_CONFIG", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_API_VERSION"],
  ...["DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"],
];

/**
 * Compose files come from the deployment's own source, which is all that is checked and recorded.
 */
const NO_REMOTE_FILES = {
  COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
  COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
} as const;

/**
 * Compose 5 builds with `buildx bake`, which asks at the keyboard before it reads a Dockerfile outside of
 * its context. Everything a build reads was found to be the repository's own by then.
 */
const BUILDS_ASK_NOTHING = { BUILDX_BAKE_ENTITLEMENTS_FS: "0" } as const;

/**
 * For its attestations buildx asks git about the directory that it builds. Files of a repository may look
 * like another one there (`HEAD`, `objects`, `config`), whose configuration names programs that git runs.
 * The first keeps buildx from asking, the second every git from believing what it finds.
 */
const ASKS_NO_GIT = { BUILDX_GIT_INFO: "false", GIT_DIR: "/dev/null" } as const;

/**
 * What docker tells a plugin: without it the plugin takes itself for a program of another grammar.
 */
const AS_A_PLUGIN = { DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND: "docker" } as const;

/** The part of our environment that every compose command gets. */
export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => env[name] === undefined ? [] : [[name, env[name]]]);
  return { ...Object.fromEntries(inherited), ...AS_A_PLUGIN };
}

/** Beginning of the names under which compose gets the values of configs and secrets. */
const VALUE_PREFIX = "STACKWRIGHT_VALUE_";

/**
 * Longest text that is given to a program by its environment: the kernel takes 128 KiB, name
 * included.
 */
const LONGEST_TEXT = 64 * 1024;
/** Most that is given by the environment altogether: it shares a limit with the arguments. */
const MOST_TEXT = 512 * 1024;

/**
 * Variables of a rendering: what is harmless to a program and short goes by its environment, the
 * rest by a file.
 */
interface RenderVariables {
  readonly environment: Readonly<Record<string, string>>;
  /** To be given as a dotenv file, which compose only reads when it has been started. */
  readonly byFile: Readonly<Record<string, string>>;
}

/**
 * The environment for rendering: the program's own variables, which always win, and the variables for
 * interpolation that steer nothing.
 *
 * Throws `config_invalid` for a variable that would change how the program runs rather than what it
 * reads, and for one that no compose file could name.
 */
export function renderVariables(
  program: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): RenderVariables {
  requireNames(variables);
  const entries = Object.entries(variables);
  const length = ([name, value]: readonly [string, string]) => Buffer.byteLength(name + value);
  const isMuch = entries.reduce((sum, each) => sum + length(each), 0) > MOST_TEXT;
  const goesByFile = (each: readonly [string, string]) =>
    isMuch || STEERS_PROGRAMS.test(each[0]) || length(each) > LONGEST_TEXT;
  return {
    environment: {
      ...Object.fromEntries(entries.filter((each) => !goesByFile(each))),
      ...program,
      ...NO_REMOTE_FILES,
    },
    byFile: Object.fromEntries(entries.filter(goesByFile)),
  };
}

/** A rendered model and the environment to carry it out with. */
interface ActingCall {
  readonly environment: Readonly<Record<string, string>>;
  readonly model: ComposeModel;
}

/**
 * Variables of compose when it builds, pulls or changes containers. Nothing is interpolated any
 * more, so it gets no variable of a repository, neither does any program that it starts (buildx,
 * credential helpers). Configs and secrets that take their value from a variable find it under a
 * name of ours. Profiles are taken out: what is not wanted is not in a rendered model.
 */
export function actingCall(
  program: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
  model: ComposeModel,
): ActingCall {
  const values: Record<string, string> = {};
  const renamed = (kind: "configs" | "secrets") => {
    if (!isObject(model[kind])) return {};
    const entries = Object.entries(objectAt(model, kind)).map(([key, resource]) => {
      const name = isObject(resource) ? textAt(resource, "environment") : "";
      if (!isObject(resource) || name === "") return [key, resource];
      const ours = VALUE_PREFIX + (NAME.test(name) ? name : "OF_NO_NAME");
      if (NAME.test(name) && Object.hasOwn(variables, name)) values[ours] = variables[name] ?? "";
      return [key, { ...resource, environment: ours }];
    });
    return { [kind]: Object.fromEntries(entries) };
  };
  const services = Object.entries(servicesOf(model)).map(([name, service]) => {
    const { profiles: _profiles, ...rest } = service;
    return [name, rest];
  });
  const changed = { ...model, ...renamed("configs"), ...renamed("secrets") };
  return {
    model: withExplicitBinds({ ...changed, services: Object.fromEntries(services) }),
    environment: {
      ...values,
      ...program,
      ...NO_REMOTE_FILES,
      ...BUILDS_ASK_NOTHING,
      ...ASKS_NO_GIT,
    },
  };
}

/** Variables as a dotenv file that compose reads back exactly as they are. */
export function dotenvText(variables: Readonly<Record<string, string>>): string {
  const escaped = (value: string) =>
    value.replace(/[\\"$]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r");
  return Object.entries(variables).map(([name, value]) => `${name}="${escaped(value)}"\n`).join("");
}

/**
 * True when a variable may be given to interpolation at all: one that can be named, and steers no
 * docker.
 */
export function canInterpolate(name: string): boolean {
  return NAME.test(name) && !CONTROLS_THE_PROGRAM.test(name);
}

function requireNames(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(variables)) {
    if (!NAME.test(name)) {
      throw errors.config_invalid(
        `environment: ${JSON.stringify(name.slice(0, 100))} is no name of a variable that a ` +
          "compose file could use; write letters, digits and underscores, no digit first",
      );
    }
    if (CONTROLS_THE_PROGRAM.test(name)) {
      throw errors.config_invalid(
        `environment.${name} would change how the docker program runs, not what is interpolated; ` +
          `give the variable another name, or put it into a file of env_files`,
      );
    }
  }
}
