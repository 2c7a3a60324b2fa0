import type { FakeFile } from "../fakes/git_repository.ts";
import type { Canaries } from "../fakes/canaries.ts";
import { encryptBinary, encryptDotenv, encryptYaml } from "../fakes/sops_encryptor.ts";
import type { CanaryHouse } from "./canary_house.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";

/** Name of the stack with every kind of secret. */
export const SHOP = "swt-canary-shop";

/** The secrets of one release of the shop. Names tell where each is written. */
export interface ShopSecrets {
  readonly composeEnvironment: string;
  readonly label: string;
  readonly option: string;
  readonly urlPassword: string;
  readonly configuration: string;
  readonly buildArgument: string;
  readonly dotenv: string;
  readonly sopsDotenv: string;
  readonly envFile: string;
  readonly sopsEnvFile: string;
  readonly interpolatedEnvFile: string;
  readonly secretFile: string;
  readonly sopsSecretFile: string;
  readonly sopsMounted: string;
  readonly store: string;
  readonly storeJson: string;
  readonly storeSecret: string;
}

/** Fresh secrets. */
export function shopSecrets(canaries: Canaries): ShopSecrets {
  return {
    composeEnvironment: canaries.make("environment of a compose file"),
    label: canaries.make("label"),
    option: canaries.make("option of a command", "word"),
    urlPassword: canaries.make("URL in a compose file", "header"),
    configuration: canaries.make("environment of .stackwright.yaml"),
    buildArgument: canaries.make("build argument"),
    dotenv: canaries.make("dotenv file", "quoted"),
    sopsDotenv: canaries.make("encrypted dotenv file", "quoted"),
    envFile: canaries.make("env_file", "quoted"),
    sopsEnvFile: canaries.make("encrypted env_file", "quoted"),
    interpolatedEnvFile: canaries.make("env_file with a variable in its path", "quoted"),
    secretFile: canaries.make("secret file"),
    sopsSecretFile: canaries.make("encrypted secret file"),
    sopsMounted: canaries.make("encrypted mounted file"),
    store: canaries.make("secret store"),
    storeJson: canaries.make("part of a secret of JSON"),
    storeSecret: canaries.make("secret store, as a secret"),
  };
}

/** Files of the shop that hold secrets in the clear, in trees. */
export const PLAIN_IN_TREES =
  /^sources\/.*\/trees\/[0-9a-f]{40}\/(?:compose\.yaml|\.stackwright\.yaml|dotenv\.env|sops\.env|svc\.env|sops-svc\.env|prod\.env|beside\.env|far2?\.env|secret\.txt|sops-secret\.txt|sops-mounted\.yaml)$/;

/** Paths that only the decrypted content is in; the mirror must not know it. */
export const SOPS_FILES = ["sops.env", "sops-svc.env", "sops-secret.txt", "sops-mounted.yaml"];

/** Puts the secrets of the store where the configuration looks for them. */
export function stock({ store }: CanaryHouse, secrets: ShopSecrets): void {
  store.write("kv/shop", {
    plain: secrets.store,
    json: JSON.stringify({ user: "app", password: secrets.storeJson }),
    secret: secrets.storeSecret,
  });
}

/** What is committed: every way in which a secret can be a part of a deployment. */
export async function shop(
  { recipients }: CanaryHouse,
  secrets: ShopSecrets,
  { web = {}, top = {}, configuration = {} }: {
    readonly web?: Part;
    readonly top?: Part;
    readonly configuration?: Part;
  } = {},
): Promise<Record<string, FakeFile>> {
  const options = { recipients };
  const literal = (text: string) => text.replaceAll("$", "$$$$");
  const url = `postgres://app:${encodeURIComponent(secrets.urlPassword)}@db/shop`;
  return {
    ".stackwright.yaml": configFile({
      name: SHOP,
      // The service would try again by itself, at a time that no test can choose.
      retry: { delay: "24h" },
      env_files: ["dotenv.env", "sops.env"],
      environment: { DB_PASSWORD: secrets.configuration, STAGE: "prod" },
      build: { args: { NPM_TOKEN: secrets.buildArgument } },
      external_secrets: {
        FROM_STORE: "kv:kv:shop:plain",
        FROM_JSON: "kv:kv:shop:json",
        AS_SECRET: "kv:kv:shop:secret",
      },
      ...configuration,
    }),
    "compose.yaml": composeFile({
      web: service({
        command: ["sleep", "100000", `--api-token=${literal(secrets.option)}`],
        environment: {
          PASSWORD: literal(secrets.composeEnvironment),
          DATABASE: literal(url),
          A: "${INNOCENT}",
          B: "${ENCRYPTED}",
          C: "${DB_PASSWORD}",
          D: "${FROM_STORE}",
          E: "${FROM_JSON}",
        },
        env_file: ["svc.env", "sops-svc.env", "${STAGE}.env"],
        labels: { "shop.token": literal(secrets.label), "shop.stage": "${STAGE}" },
        secrets: ["file", "sops", "store"],
        volumes: ["./sops-mounted.yaml:/etc/app.yaml:ro"],
        ...web,
      }),
    }, {
      secrets: {
        file: { file: "./secret.txt" },
        sops: { file: "./sops-secret.txt" },
        store: { environment: "AS_SECRET" },
      },
      ...top,
    }),
    "dotenv.env": `INNOCENT='${secrets.dotenv}'\n`,
    "sops.env": await encryptDotenv(`ENCRYPTED='${secrets.sopsDotenv}'\n`, options),
    "svc.env": `SVC='${secrets.envFile}'\n`,
    "sops-svc.env": await encryptDotenv(`SOPS_SVC='${secrets.sopsEnvFile}'\n`, options),
    "prod.env": `STAGED='${secrets.interpolatedEnvFile}'\n`,
    "secret.txt": `${secrets.secretFile}\n`,
    "sops-secret.txt": await encryptBinary(`${secrets.sopsSecretFile}\n`, options),
    "sops-mounted.yaml": await encryptYaml({ db: { any: secrets.sopsMounted } }, options),
  };
}
