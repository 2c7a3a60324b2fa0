import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StackwrightError } from "../../../src/model/mod.ts";
import { readSettings, secretValues } from "../../../src/settings/mod.ts";

const BASE = { HOME: "/home/me", DATA_DIR: "/data" };
const STORE = "name: a\nurl: https://a.test/x\njson_path: v\n";

const read = (env: Record<string, string>, files: Record<string, string> = {}) =>
  readSettings(
    { ...BASE, ...env },
    (path) => {
      const text = files[path];
      if (text === undefined) throw new Error("no such file");
      return text;
    },
  );

/** Variables of each provider, and what they become. */
const GOOD: readonly (readonly [Record<string, string>, Record<string, unknown>, string[]])[] = [
  [
    { SITE_URL: "https://bao.test:8200/", ACCESS_TOKEN: "canary-t" },
    { kind: "openbao", siteUrl: "https://bao.test:8200", accessToken: "canary-t" },
    ["canary-t"],
  ],
  [
    { CLIENT_ID: "me", CLIENT_SECRET: "canary-s" },
    {
      kind: "infisical",
      siteUrl: "https://app.infisical.com",
      clientId: "me",
      clientSecret: "canary-s",
    },
    ["canary-s"],
  ],
  [
    { REGION: "eu-central-1", ACCESS_KEY_ID: "AKID", SECRET_ACCESS_KEY: "canary-k" },
    {
      kind: "aws_sm",
      region: "eu-central-1",
      accessKeyId: "AKID",
      secretAccessKey: "canary-k",
      siteUrl: undefined,
    },
    ["canary-k"],
  ],
  [
    { CONNECT_HOST: "http://connect:8080", CONNECT_TOKEN: "canary-c" },
    { kind: "1password", connectHost: "http://connect:8080", connectToken: "canary-c" },
    ["canary-c"],
  ],
];

describe("SECRET_PROVIDER", () => {
  for (const [variables, expected, secrets] of GOOD) {
    it(`reads ${expected["kind"]}, from variables and from files`, () => {
      const kind = { SECRET_PROVIDER: String(expected["kind"]) };
      const named = prefixed(variables);
      const settings = read({ ...kind, ...named });
      assert.deepEqual(settings.secretProvider, expected);
      assert.deepEqual(secretValues(settings), secrets);
      const [secret = ""] = Object.keys(named).filter((name) => named[name]?.startsWith("canary"));
      const { [secret]: value = "", ...others } = named;
      const fromFile = read({ ...kind, ...others, [`${secret}_FILE`]: "/s" }, {
        "/s": `${value}\n`,
      });
      assert.deepEqual(fromFile.secretProvider, expected);
    });
  }

  it("reads azure_kv with a client, and with the identity of the machine", () => {
    const kind = {
      SECRET_PROVIDER: "azure_kv",
      SECRET_PROVIDER_VAULT_URL: "https://v.vault.azure.net/",
    };
    const vaultUrl = "https://v.vault.azure.net";
    assert.deepEqual(read(kind).secretProvider, {
      kind: "azure_kv",
      vaultUrl,
      identity: { kind: "managed", clientId: undefined },
    });
    const client = { AZURE_TENANT_ID: "t", AZURE_CLIENT_ID: "c", AZURE_CLIENT_SECRET: "canary" };
    const settings = read({ ...kind, ...client });
    assert.deepEqual(settings.secretProvider, {
      kind: "azure_kv",
      vaultUrl,
      identity: {
        kind: "client",
        authorityUrl: "https://login.microsoftonline.com",
        tenantId: "t",
        clientId: "c",
        clientSecret: "canary",
      },
    });
    assert.deepEqual(secretValues(settings), ["canary"]);
  });

  it("reads webhook stores from text and file, with the credentials inside them as secrets", () => {
    const text =
      `${STORE}headers:\n  Authorization: Bearer canary-a\n  X-Key: canary-b\n  Accept: x\n`;
    const env = { SECRET_PROVIDER: "webhook", SECRET_PROVIDER_AUTH_TOKEN: "canary-c" };
    for (
      const settings of [
        read({ ...env, SECRET_PROVIDER_WEBHOOK_STORES: text }),
        read({ ...env, SECRET_PROVIDER_WEBHOOK_STORES_FILE: "/f" }, { "/f": text }),
      ]
    ) {
      assert.ok(settings.secretProvider?.kind === "webhook");
      assert.deepEqual(settings.secretProvider.stores.map((each) => each.name), ["a"]);
      assert.deepEqual(settings.secretProvider.auth, { token: "canary-c" });
      assert.deepEqual(secretValues(settings), ["canary-c", "canary-a", "canary-b"]);
    }
  });

  it("is none by default, and takes vault as openbao", () => {
    assert.equal(read({}).secretProvider, undefined);
    const openbao = { SITE_URL: "https://v.test", ACCESS_TOKEN: "t" };
    assert.equal(
      read({ SECRET_PROVIDER: "Vault", ...prefixed(openbao) }).secretProvider?.kind,
      "openbao",
    );
  });

  const bad: readonly (readonly [Record<string, string>, readonly RegExp[]])[] = [
    [{ SECRET_PROVIDER: "sops" }, [/SECRET_PROVIDER: expected webhook, openbao, .*found "sops"/]],
    [{ SECRET_PROVIDER: "bitwarden_sm" }, [/has no interface over plain HTTPS/]],
    [{ SECRET_PROVIDER: "constructor" }, [/found "constructor"/]],
    [{ SECRET_PROVIDER: "openbao" }, [
      /SECRET_PROVIDER_SITE_URL: must be set: SECRET_PROVIDER is openbao/,
      /SECRET_PROVIDER_ACCESS_TOKEN: must be set/,
    ]],
    [{ SECRET_PROVIDER: "Vault" }, [
      /_SITE_URL: must be set: SECRET_PROVIDER is Vault/,
      /_TOKEN: must/,
    ]],
    [{ SECRET_PROVIDER: "infisical" }, [/_CLIENT_ID: must be set/, /_CLIENT_SECRET: must be set/]],
    [{ SECRET_PROVIDER: "aws_sm", SECRET_PROVIDER_REGION: "a.evil.test/" }, [
      /SECRET_PROVIDER_REGION: expected a region/,
      /_ACCESS_KEY_ID: must be set/,
      /_SECRET_ACCESS_KEY: must be set/,
    ]],
    [{ SECRET_PROVIDER: "azure_kv" }, [/_VAULT_URL: must be set/]],
    [{
      SECRET_PROVIDER: "azure_kv",
      SECRET_PROVIDER_VAULT_URL: "vault",
      AZURE_CLIENT_SECRET: "hunter2",
    }, [/_VAULT_URL: expected an address/, /AZURE_TENANT_ID: must/, /AZURE_CLIENT_ID: must/]],
    [{ SECRET_PROVIDER: "1password" }, [
      /_CONNECT_HOST: must be set/,
      /_CONNECT_TOKEN: must be set/,
    ]],
    [{ SECRET_PROVIDER: "1password", SECRET_PROVIDER_ACCESS_TOKEN: "hunter2" }, [
      /_ACCESS_TOKEN: service accounts of 1Password are not supported; use a Connect server/,
    ]],
    [{ SECRET_PROVIDER: "webhook" }, [/SECRET_PROVIDER_WEBHOOK_STORES: must be set/]],
    [{ SECRET_PROVIDER: "webhook", SECRET_PROVIDER_WEBHOOK_STORES: "stores: {}" }, [
      /SECRET_PROVIDER_WEBHOOK_STORES:1:1: stores: expected a mapping or a list/,
    ]],
    [{
      SECRET_PROVIDER: "webhook",
      SECRET_PROVIDER_WEBHOOK_STORES: `${STORE}headers: {a: "{{ .auth.api_key }}"}\n`,
    }, [/SECRET_PROVIDER_AUTH_APIKEY: must be set: store a uses \.auth\.api_key/]],
    [{
      SECRET_PROVIDER: "openbao",
      SECRET_PROVIDER_SITE_URL: "https://user:hunter2@bao.test",
      SECRET_PROVIDER_ACCESS_TOKEN: "t",
    }, [/SECRET_PROVIDER_SITE_URL: expected an address/]],
  ];
  for (const [env, messages] of bad) {
    it(`refuses ${JSON.stringify(env)}`, () => {
      assert.throws(() => read(env), (error: unknown) => {
        assert.ok(error instanceof StackwrightError);
        const [, ...lines] = error.message.split("\n");
        assert.equal(lines.length, messages.length, error.message);
        for (const message of messages) assert.match(error.message, message);
        assert.ok(!error.message.includes("hunter2"));
        return true;
      });
    });
  }
});

function prefixed(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [`SECRET_PROVIDER_${name}`, value]),
  );
}
