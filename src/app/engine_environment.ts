import { canInterpolate, programEnvironment } from "../deploy/mod.ts";
import { isOfKeyService } from "../secrets/mod.ts";
import { secretValues, type Settings, SETTINGS_TABLE } from "../settings/mod.ts";
import { SHORTEST_SECRET } from "../system/mod.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of both engine client and compose, which have to talk to the same engine. */
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

/** Variables that control programs, or belong to secret stores: repositories must not read them. */
const NOT_FOR_REPOSITORIES =
  /^(?:APPRISE|BUILDKIT|BUILDX|COMPOSE|DOCKER|GITHUB_APP|LD|SECRET_PROVIDER|XDG)_/;

/** Settings of Stackwright that are secrets, or may contain some. */
const OWN_SECRETS: ReadonlySet<string> = new Set(
  SETTINGS_TABLE.filter(({ type }) => ["secret", "URL", "YAML"].includes(type))
    .map(({ name }) => name),
);

/** Variables that `PASS_ENV` lets into interpolation; never the settings' secrets, whatever name. */
export function passedVariables(settings: Settings, env: Environment): Record<string, string> {
  if (!settings.deploy.passEnv) return {};
  const secrets = secretValues(settings);
  const program = new Set(Object.keys(programEnvironment(env)));
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && canInterpolate(name, value) && !program.has(name) &&
        !OWN_SECRETS.has(name) &&
        !NOT_FOR_REPOSITORIES.test(name) && !isOfKeyService(name) && !secrets.some((secret) =>
          holds(value, secret)
        );
    }),
  );
}

/** Whether a value contains a secret. Very short secrets, part of many words, have to equal it. */
function holds(value: string, secret: string): boolean {
  return secret.length < SHORTEST_SECRET ? value === secret : value.includes(secret);
}
