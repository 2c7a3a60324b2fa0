import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Canaries } from "../fakes/canaries.ts";
import { run } from "../unit/cli/command_line.ts";

/** Settings that are wrong, each with a canary in it. */
const WRONG: readonly (readonly [
  string,
  (canary: string) => Record<string, string>,
  kind?: "header" | "word",
])[] = [
  ["API_SECRET", (c) => ({ API_SECRET: c, API_SECRET_FILE: "/dev/null" })],
  ["API_SECRET_FILE", (c) => ({ API_SECRET_FILE: c })],
  ["WEBHOOK_SECRET_FILE", (c) => ({ WEBHOOK_SECRET_FILE: c }), "word"],
  ["GIT_AUTH_DOMAINS", (c) => ({ GIT_AUTH_DOMAINS: c })],
  ["GIT_AUTH_DOMAINS", (c) => ({ GIT_AUTH_DOMAINS: `git_access_token: ${c}` })],
  ["GIT_AUTH_DOMAINS", (c) => ({ GIT_AUTH_DOMAINS: `- git_access_token: "${c}` }), "word"],
  ["GIT_AUTH_DOMAINS", (c) => ({ GIT_AUTH_DOMAINS: `- git_access_token: [${c}` }), "word"],
  ["GIT_AUTH_DOMAINS", (c) => ({ GIT_AUTH_DOMAINS: JSON.stringify([{ git_access_token: [c] }]) })],
  ["GIT_AUTH_DOMAINS", (c) => ({ GIT_AUTH_DOMAINS: JSON.stringify([{ git_token: c }]) })],
  [
    "GIT_AUTH_DOMAINS",
    (c) => ({
      GIT_AUTH_DOMAINS: JSON.stringify([{ domains: ["a"], git_access_token: c, github_app_id: 1 }]),
    }),
  ],
  [
    "GIT_AUTH_DOMAINS",
    (c) => ({
      GIT_AUTH_DOMAINS: JSON.stringify([{
        domains: ["a"],
        ssh_private_key_passphrase: { text: c },
        insecure_skip_tls: "maybe",
      }]),
    }),
  ],
  ["SOURCE_URL_REWRITES", (c) => ({ SOURCE_URL_REWRITES: JSON.stringify([url(c)]) })],
  ["SOURCE_URL_REWRITES", (c) => ({ SOURCE_URL_REWRITES: JSON.stringify({ a: [url(c)] }) })],
  ["SOURCE_URL_REWRITES", (c) => ({ SOURCE_URL_REWRITES: `a: "${url(c)}\nb` })],
  ["POLL_CONFIG", (c) => ({ POLL_CONFIG: JSON.stringify([{ url: [url(c)] }]) })],
  ["POLL_CONFIG", (c) => ({ POLL_CONFIG: JSON.stringify([{ url: "a", interval: url(c) }]) })],
  ["POLL_CONFIG", (c) => ({ POLL_CONFIG: JSON.stringify({ url: url(c) }) })],
  ["POLL_CONFIG", (c) => ({ POLL_CONFIG: `- url: "${url(c)}\n  x` })],
  [
    "POLL_CONFIG",
    (c) => ({ POLL_CONFIG: JSON.stringify([{ url: `https//u:${c}@h/o/r` }]) }),
    "word",
  ],
  ["HTTP_PROXY", (c) => ({ HTTP_PROXY: `bob:${c}@proxy:3128` })],
  ["HTTPS_PROXY", (c) => ({ HTTPS_PROXY: `ftp://bob:${encodeURIComponent(c)}@proxy:3128` })],
  ["SOPS_AGE_KEY", (c) => ({ SOPS_AGE_KEY: `AGE-SECRET-KEY-1${c}` })],
  ["GITHUB_APP_ID", (c) => ({ GITHUB_APP_PRIVATE_KEY: c })],
  ["GIT_ACCESS_TOKEN", (c) => ({
    GITHUB_APP_ID: "1",
    GITHUB_APP_PRIVATE_KEY: c,
    GIT_ACCESS_TOKEN: c,
  })],
  ["SECRET_PROVIDER_SITE_URL", (c) => ({
    SECRET_PROVIDER: "openbao",
    SECRET_PROVIDER_ACCESS_TOKEN: c,
    SECRET_PROVIDER_SITE_URL: `https//u:${c}@h`,
  })],
  ["SECRET_PROVIDER_SITE_URL", (c) => ({
    SECRET_PROVIDER: "infisical",
    SECRET_PROVIDER_CLIENT_ID: "a",
    SECRET_PROVIDER_CLIENT_SECRET: c,
    SECRET_PROVIDER_SITE_URL: `ftp://u:${encodeURIComponent(c)}@h`,
  })],
  ["SECRET_PROVIDER_REGION", (c) => ({
    SECRET_PROVIDER: "aws_sm",
    SECRET_PROVIDER_REGION: "not a region",
    SECRET_PROVIDER_ACCESS_KEY_ID: "a",
    SECRET_PROVIDER_SECRET_ACCESS_KEY: c,
  })],
  ["AZURE_", (c) => ({
    SECRET_PROVIDER: "azure_kv",
    SECRET_PROVIDER_VAULT_URL: "https://v",
    AZURE_CLIENT_SECRET: c,
  })],
  ["SECRET_PROVIDER_CONNECT_HOST", (c) => ({
    SECRET_PROVIDER: "1password",
    SECRET_PROVIDER_CONNECT_TOKEN: c,
  })],
  ["SECRET_PROVIDER_WEBHOOK_STORES", (c) => ({
    SECRET_PROVIDER: "webhook",
    SECRET_PROVIDER_AUTH_TOKEN: c,
    SECRET_PROVIDER_WEBHOOK_STORES: JSON.stringify({
      stores: { a: { url: "x", json_path: "", headers: { "X-Api-Key": `${c} {{ .oops` } } },
    }),
  })],
  ["SECRET_PROVIDER_WEBHOOK_STORES", (c) => ({
    SECRET_PROVIDER: "webhook",
    SECRET_PROVIDER_WEBHOOK_STORES: `stores: {a: {headers: {X-Api-Key: "${c}`,
  }), "word"],
  [
    "DOCKER_HOST",
    (c) => ({ API_SECRET: "x", DOCKER_HOST: `nonsense://u:${encodeURIComponent(c)}@h` }),
  ],
];

describe("secret canaries in settings that are wrong", () => {
  for (const [index, [name, settings, kind = "header"]] of WRONG.entries()) {
    it(`${name}, ${index + 1}: are not repeated`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "swt-canary-settings-"));
      try {
        const canaries = new Canaries();
        const env = { DATA_DIR: join(directory, "data"), ...settings(canaries.make(name, kind)) };
        await writeFile(join(directory, ".stackwright.yaml"), "name: a\n");
        const said = [];
        for (const args of [["serve"], ["plan", directory], ["plan", "--json", directory]]) {
          const { code, out, err } = await run(args, { env: { ...env, LOG_LEVEL: "debug" } });
          assert.notEqual(code, 0, out);
          said.push(out, err);
        }
        assert.match(said.join("\n"), new RegExp(name));
        assert.deepEqual(canaries.find(said.join("\n")), [], said.join("\n"));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});

function url(password: string): string {
  return `http://bob:${encodeURIComponent(password)}@git.test/o/r`;
}
