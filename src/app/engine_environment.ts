import { programEnvironment } from "../deploy/mod.ts";
import { secretValues, type Settings } from "../settings/mod.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment for engine client and compose: both must talk to the same engine. */
export function engineEnvironment(settings: Settings, env: Environment): Environment {
  const { host, apiVersion, configDir, certPath, tlsVerify } = settings.docker;
  return {
    ...env,
    DOCKER_HOST: host,
    DOCKER_API_VERSION: apiVersion,
    DOCKER_CONFIG: configDir,
    DOCKER_CERT_PATH: certPath,
    DOCKER_TLS_VERIFY: tlsVerify ? "1" : undefined,
  };
}

/** Variables of our environment that `PASS_ENV` lets into interpolation: never our own secrets. */
export function passedVariables(settings: Settings, env: Environment): Record<string, string> {
  if (!settings.deploy.passEnv) return {};
  const secrets = new Set(secretValues(settings));
  const program = new Set(Object.keys(programEnvironment(env)));
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && !program.has(name) && !secrets.has(value) &&
        !/^(?:COMPOSE|DOCKER|BUILDX|BUILDKIT|LD|XDG)_/.test(name);
    }),
  );
}
