import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type Environment,
  NOT_YET,
  readSettings,
  type SettingRow,
  SETTINGS_TABLE,
} from "../../../src/settings/mod.ts";
import { SOPS_AGE_KEY } from "../secrets/sops/real_files.ts";

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), "../../../src");

/** Variables that a variable needs beside it, for those that mean nothing alone. */
const BESIDE: Readonly<Record<string, Environment>> = {
  HTTP_TLS_CERT_FILE: { HTTP_TLS_KEY_FILE: "/tls/key" },
  HTTP_TLS_KEY_FILE: { HTTP_TLS_CERT_FILE: "/tls/cert" },
  MCP_ENABLED: { API_SECRET: "api" },
  GITHUB_APP_ID: { GITHUB_APP_PRIVATE_KEY: "key" },
  GITHUB_APP_PRIVATE_KEY: { GITHUB_APP_ID: "1" },
  GITHUB_APP_INSTALLATION_ID: { GITHUB_APP_ID: "1", GITHUB_APP_PRIVATE_KEY: "key" },
  SSH_PRIVATE_KEY_PASSPHRASE: { SSH_PRIVATE_KEY: "key" },
  SECRET_PROVIDER: { SECRET_PROVIDER_WEBHOOK_STORES: "{name: a, url: 'https://s', json_path: x}" },
};

const STORE = "stores: {a: {url: 'https://s.example', json_path: x}}";
const OPENBAO: Environment = {
  SECRET_PROVIDER: "openbao",
  SECRET_PROVIDER_SITE_URL: "https://bao.example",
  SECRET_PROVIDER_ACCESS_TOKEN: "token",
};
const INFISICAL: Environment = {
  SECRET_PROVIDER: "infisical",
  SECRET_PROVIDER_CLIENT_ID: "id",
  SECRET_PROVIDER_CLIENT_SECRET: "secret",
};
const AWS: Environment = {
  SECRET_PROVIDER: "aws_sm",
  SECRET_PROVIDER_REGION: "eu-west-1",
  SECRET_PROVIDER_ACCESS_KEY_ID: "id",
  SECRET_PROVIDER_SECRET_ACCESS_KEY: "secret",
};
const AZURE: Environment = {
  SECRET_PROVIDER: "azure_kv",
  SECRET_PROVIDER_VAULT_URL: "https://vault.example",
  AZURE_TENANT_ID: "tenant",
  AZURE_CLIENT_ID: "client",
  AZURE_CLIENT_SECRET: "secret",
};
const ONEPASSWORD: Environment = {
  SECRET_PROVIDER: "1password",
  SECRET_PROVIDER_CONNECT_HOST: "https://connect.example",
  SECRET_PROVIDER_CONNECT_TOKEN: "token",
};
const WEBHOOK: Environment = {
  SECRET_PROVIDER: "webhook",
  SECRET_PROVIDER_WEBHOOK_STORES: STORE,
};
const PROVIDERS = [OPENBAO, INFISICAL, AWS, AZURE, ONEPASSWORD, WEBHOOK];

/** Providers that read a variable they can do without. */
const BY_NAME: Readonly<Record<string, Environment>> = { AZURE_AUTHORITY_HOST: AZURE };

/** Two values each, for what has more to say than its type. */
const VALUES: Readonly<Record<string, readonly [string, string]>> = {
  LOG_LEVEL: ["debug", "warn"],
  LOG_FORMAT: ["text", "json"],
  REMOTE_FILES: ["refuse", "volume"],
  TZ: ["Europe/Berlin", "UTC"],
  SYNC_WINDOWS: ["[{kind: deny, schedule: '@daily', duration: 1h}]", "[]"],
  DOCKER_TLS_VERIFY: ["1", ""],
  DOCKER_AUTH_CONFIG: [`{"auths": {"ghcr.io": {"auth": "dTpw"}}}`, ""],
  GITHUB_APP_ID: ["1", "2"],
  TRUSTED_PROXY_NETWORKS: ["10.1.0.0/16", "10.2.0.0/16"],
  GIT_ACCESS_TOKEN_HOSTS: ["git.example", "other.example"],
  GIT_AUTH_DOMAINS: ["one.example", "other.example"].map((domain) =>
    `[{domains: [${domain}], git_access_token: x}]`
  ) as [string, string],
  SOURCE_URL_REWRITES: ["{git.example: mirror.example}", "{}"],
  SOPS_AGE_KEY: ["", SOPS_AGE_KEY],
  POLL_CONFIG: ["[{url: https://git.example/a/b.git}]", "[]"],
  SECRET_PROVIDER: ["", "webhook"],
  SECRET_PROVIDER_WEBHOOK_STORES: [STORE, STORE.replace("a:", "b:")],
};

describe("every setting", () => {
  let texts: readonly string[] | undefined;
  for (const row of SETTINGS_TABLE) {
    it(`${row.name} is read by the program, or is said to be not there yet`, async () => {
      if (NOT_YET.some((each) => each.name === row.name)) return;
      const leaves = changedBy(row);
      assert.notDeepEqual(leaves, [], "setting it changes nothing");
      texts ??= await programTexts();
      for (const leaf of leaves) assert.ok(isRead(leaf, texts), `nobody reads settings.${leaf}`);
    });
  }

  it("isRead() tells what is read from what is only called the same", () => {
    assert.ok(isRead("deploy.rollback", ["if (settings.deploy.rollback) x();"]));
    const imports = 'from "../settings/mod.ts";';
    assert.ok(isRead("deploy.rollback", [`${imports} const { a, rollback } = given;`]));
    assert.ok(isRead("secretProvider", [`${imports} f({ secretProvider }: Settings)`]));
    assert.ok(isRead("timeZone", ["f(settings.timeZone)"]));
    assert.ok(!isRead("deploy.quiet", ["build.quiet", "const { quiet } = this.#parts;"]));
    assert.ok(!isRead("timeZone", ["options.timeZone"]));
  });
});

/** The values of the settings that a variable decides: they differ where its value does. */
function changedBy(row: SettingRow): string[] {
  const provider = PROVIDERS.find((each) => each[row.name] !== undefined);
  const isSecrets = /^(?:SECRET_PROVIDER|AZURE)_/.test(row.name);
  const beside = { ...(isSecrets ? provider ?? BY_NAME[row.name] ?? WEBHOOK : BESIDE[row.name]) };
  const [first, second] = valuesOf(row).map((value) =>
    flat(readSettings({ ...beside, [row.name]: value }, () => "", { uid: 0 }))
  );
  const paths = new Set([...first?.keys() ?? [], ...second?.keys() ?? []]);
  return [...paths].filter((path) => first?.get(path) !== second?.get(path))
    .filter((path) => path !== "notices" && path !== "secretFiles");
}

/** Two values a variable may have. */
function valuesOf({ name, type, default: fallback }: SettingRow): readonly [string, string] {
  const values = VALUES[name];
  if (values !== undefined) return values;
  if (type === "boolean") return ["true", "false"];
  if (type === "duration") return ["7s", "1m"];
  if (type === "integer") return [String(Number(fallback) + 1), String(Number(fallback) + 2)];
  if (type === "URL") return ["https://one.example", "https://other.example"];
  if (type === "path") return ["/one/path", "/other/path"];
  return ["one-value", "other-value"];
}

/** Values by their path, two levels deep: what is below that is one thing to its reader. */
function flat(settings: unknown): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(settings as Record<string, unknown>)) {
    const isGroup = ["http", "git", "deploy", "proxy", "data", "sops", "docker"].includes(name);
    if (!isGroup) found.set(name, JSON.stringify(value) ?? "");
    else {
      for (const [key, each] of Object.entries(value as Record<string, unknown>)) {
        found.set(`${name}.${key}`, JSON.stringify(each) ?? "");
      }
    }
  }
  return found;
}

/** Whether a text reads a setting: by its path, or by name where it knows the settings. */
function isRead(leaf: string, texts: readonly string[]): boolean {
  const [group, name] = leaf.includes(".") ? leaf.split(".") : ["settings", leaf];
  const direct = new RegExp(`\\b${group}\\??\\.${name}\\b`);
  const taken = new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\}(?:: (?:Pick<Git)?Settings|[^=]* = )`);
  return texts.some((text) =>
    direct.test(text) || (text.includes("settings/mod.ts") && taken.test(text))
  );
}

async function programTexts(): Promise<string[]> {
  const entries = await readdir(SOURCE, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile() && each.name.endsWith(".ts"))
    .map((each) => join(each.parentPath, each.name))
    .filter((path) => !path.startsWith(join(SOURCE, "settings")));
  return await Promise.all(files.map((path) => readFile(path, "utf8")));
}
