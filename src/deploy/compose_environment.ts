import { StackwrightError } from "../model/mod.ts";

/** Variables that the docker program itself obeys: a repository must not be able to set them. */
const CONTROLS_THE_PROGRAM = new RegExp(
  "^(?:PATH|HOME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_(?:FILE|DIR)|GO(?:DEBUG|TRACEBACK|GC|MEMLIMIT)" +
    "|LD_.*|XDG_.*|COMPOSE_.*|BUILDX_.*|BUILDKIT_.*" +
    "|DOCKER_(?:HOST|CONTEXT|CONFIG|AUTH_CONFIG|API_VERSION|CERT_PATH|TLS|TLS_VERIFY|BUILDKIT" +
    "|CONTENT_TRUST.*|CLI_.*|CUSTOM_HEADERS|HIDE_.*))$",
);

/**
 * Variables of our own environment that the docker program needs to find the engine and credentials.
 * A compose file can interpolate every one of them, so none may be a secret: proxies are left out.
 */
const INHERITED = [
  "PATH",
  "HOME",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "DOCKER_HOST",
  "DOCKER_CONFIG",
  "DOCKER_API_VERSION",
  "DOCKER_CERT_PATH",
  "DOCKER_TLS_VERIFY",
] as const;

/** Compose files come from the deployment's own source, which is all that is checked and recorded. */
const NO_REMOTE_FILES = {
  COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
  COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
} as const;

/** What docker tells a plugin: without it the plugin takes itself for a program of another grammar. */
const AS_A_PLUGIN = { DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND: "docker" } as const;

/** The part of our environment that every compose command gets. */
export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const entries = INHERITED.map((name) => [name, env[name]] as const);
  const inherited = Object.fromEntries(
    entries.filter((entry): entry is readonly [typeof entry[0], string] => entry[1] !== undefined),
  );
  return { ...inherited, ...AS_A_PLUGIN };
}

/**
 * The environment of one compose command: the program's own variables, which always win, and the
 * variables for interpolation.
 *
 * Throws `config_invalid` for a variable that would change how the program runs rather than what it
 * reads.
 */
export function composeEnvironment(
  program: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  for (const name of Object.keys(variables)) {
    if (CONTROLS_THE_PROGRAM.test(name)) {
      throw new StackwrightError(
        "config_invalid",
        `environment.${name} would change how the docker program runs, not what is interpolated; ` +
          `give the variable another name, or put it into a file of env_files`,
      );
    }
  }
  return { ...variables, ...program, ...NO_REMOTE_FILES };
}
