import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { engineEnvironment, passedVariables } from "../../../src/app/engine_environment.ts";
import { readSettings } from "../../../src/settings/mod.ts";

type Environment = Readonly<Record<string, string>>;

const FILES: Environment = { "/secret": "canary-from-file\n" };
const read = (env: Environment) => readSettings(env, (path) => FILES[path] ?? "", { uid: 0 });

/** What a repository may interpolate when our environment is `env` and PASS_ENV is on. */
function passed(env: Environment): Record<string, string> {
  const whole = { ...env, PASS_ENV: "true" };
  const { PASS_ENV: _, ...variables } = passedVariables(read(whole), whole);
  return variables;
}

describe("engineEnvironment", () => {
  it("engineEnvironment() gives client and compose the same engine, whatever else there is", () => {
    const env = { HOME: "/root", DOCKER_HOST: "tcp://h:1", DOCKER_TLS_VERIFY: "0" };
    const made = engineEnvironment(read({ ...env, DOCKER_CERT_PATH: "/c" }), env);
    assert.deepEqual(made, {
      HOME: "/root",
      DOCKER_HOST: "tcp://h:1",
      DOCKER_API_VERSION: undefined,
      DOCKER_CONFIG: undefined,
      DOCKER_CERT_PATH: "/c",
      DOCKER_TLS_VERIFY: "1",
    });
  });

  it("engineEnvironment() treats an empty variable as none", () => {
    const env = { DOCKER_HOST: "", DOCKER_TLS_VERIFY: " ", DOCKER_CONFIG: "" };
    const made = engineEnvironment(read(env), env);
    assert.deepEqual([made["DOCKER_HOST"], made["DOCKER_TLS_VERIFY"], made["DOCKER_CONFIG"]], [
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("passedVariables", () => {
  it("passedVariables() passes nothing unless PASS_ENV is on", () => {
    const env = { DOMAIN: "example.com", TZ: "UTC" };
    assert.deepEqual(passedVariables(read(env), env), {});
  });

  it("passedVariables() passes ordinary variables as they are", () => {
    const env = { DOMAIN: "example.com", TZ: "UTC", EMPTY: "", API_URL: "http://h", LDAP: "x" };
    assert.deepEqual(passed(env), env);
  });

  const canary = "canary-4711";
  const kept: [string, Environment][] = [
    ["API_SECRET", { API_SECRET: canary }],
    ["WEBHOOK_SECRET", { WEBHOOK_SECRET: canary }],
    ["GIT_ACCESS_TOKEN", { GIT_ACCESS_TOKEN: canary }],
    ["SSH_PRIVATE_KEY", { SSH_PRIVATE_KEY: `BEGIN\n${canary}\nEND` }],
    ["SSH_PRIVATE_KEY_PASSPHRASE", { SSH_PRIVATE_KEY_PASSPHRASE: canary }],
    ["GIT_AUTH_DOMAINS", { GIT_AUTH_DOMAINS: `[{domains: [a], git_access_token: ${canary}}]` }],
    ["POLL_CONFIG", { POLL_CONFIG: `[{url: "https://u:${canary}@h/r"}]` }],
    ["variables inside POLL_CONFIG", {
      POLL_CONFIG: `[{url: /r, deployments: [{name: a, environment: {A: ${canary}}}]}]`,
    }],
    ["SOURCE_URL_REWRITES", { SOURCE_URL_REWRITES: `{a: "https://u:${canary}@h"}` }],
    ["HTTP_PROXY", { HTTP_PROXY: `http://u:${canary}@h` }],
    ["a copy under another name", { API_SECRET: canary, COPY: canary }],
    ["a secret inside another variable", { API_SECRET: canary, DSN: `db://u:${canary}@h` }],
    ["a secret from a file", { API_SECRET_FILE: "/secret", COPY: "canary-from-file" }],
    ["a very short secret", { API_SECRET: "can", COPY: "can" }],
    ["SOPS_AGE_KEY", { SOPS_AGE_KEY: "AGE-PLUGIN-A-1CANARY", COPY: "AGE-PLUGIN-A-1CANARY" }],
    ["GITHUB_APP_PRIVATE_KEY", { GITHUB_APP_ID: "1", GITHUB_APP_PRIVATE_KEY: canary }],
    ["SECRET_PROVIDER_ACCESS_TOKEN", { SECRET_PROVIDER_ACCESS_TOKEN: canary }],
    ["VAULT_TOKEN, which the sops program gets", { VAULT_TOKEN: canary }],
    ["AWS_SECRET_ACCESS_KEY, which the sops program gets", { AWS_SECRET_ACCESS_KEY: canary }],
    ["APPRISE_NOTIFY_URLS", { APPRISE_NOTIFY_URLS: `mailto://u:${canary}@h` }],
  ];
  for (const [what, env] of kept) {
    it(`passedVariables() keeps back ${what}`, () => {
      const variables = passed({ ...env, DOMAIN: "example.com" });
      assert.equal(variables["DOMAIN"], "example.com");
      assert.doesNotMatch(JSON.stringify(variables), /canary|"can"/i);
    });
  }

  it("passedVariables() keeps variables back that contain a very short secret by chance", () => {
    assert.deepEqual(passed({ API_SECRET: "a", DOMAIN: "example.com" }), { DOMAIN: "example.com" });
  });

  it("passedVariables() keeps back what steers the docker program and the loader", () => {
    const env = {
      PWD: "/srv",
      PATH: "/bin",
      HOME: "/root",
      DOCKER_HOST: "tcp://h:1",
      COMPOSE_FILE: "x",
      BUILDKIT_HOST: "x",
      BUILDX_CONFIG: "x",
      LD_PRELOAD: "/x.so",
      XDG_RUNTIME_DIR: "/run",
    };
    assert.deepEqual(passed({ ...env, DOMAIN: "example.com" }), { DOMAIN: "example.com" });
  });
});
