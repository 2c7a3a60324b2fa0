import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { registrySecrets, secretsInModel, stepsToSecrets } from "../../../src/compose/mod.ts";
import { takesAtMost } from "../processor_time.ts";

const PAUSES = { after: () => undefined };

describe("secretsInModel()", () => {
  it("takes little time for texts and names that say the same again and again", async () => {
    const half = "a".repeat(500);
    const environment = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`P${at}_PASSWORD`, `${half}${at}${half}`]),
    );
    const model = { services: { web: { image: "i", hostname: "a".repeat(250_000), environment } } };
    const look = async () => assert.equal((await secretsInModel(model, PAUSES)).length, 100);
    assert.ok(await takesAtMost(2000, look));
  });

  const rows: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ["environment", { environment: { DB_PASSWORD: "a$$1-canary", PLAIN: "b-canary-1" } }, [
      "a$1-canary",
    ]],
    ["labels", { labels: { "x.token": "c-canary-1", "x.rule": "Host(`shop`)" } }, ["c-canary-1"]],
    ["build arguments", { build: { args: { NPM_TOKEN: "d-canary-1" } } }, ["d-canary-1"]],
    ["options of a log driver", { logging: { options: { "splunk-token": "e-canary-1" } } }, [
      "e-canary-1",
    ]],
    ["command lines", { command: ["run", "--api-key=f-canary-1", "--password", "g-canary-1"] }, [
      "f-canary-1",
      "g-canary-1",
    ]],
    ["lines for a shell", {
      command: ["sh", "-c", 'run --password i-canary-1 --verbose; PGPASSWORD="j-canary 1" run'],
      healthcheck: {
        test: ["CMD-SHELL", "ping --password 'k-canary 1'; A_TOKEN='l-canary-1' ping"],
      },
    }, ["i-canary-1", "j-canary 1", "k-canary 1", "l-canary-1"]],
    ["options of one letter", {
      healthcheck: { test: ["CMD", "curl", "-u", "me:pass-words", "http://h"] },
      command: ["redis-cli", "-a", "n1x-Canary9x2", "-p", "6379", "--user", "node:node"],
    }, ["n1x-Canary9x2", "pass-words"]],
    ["annotations", { annotations: { "vault.token": "m-canary-1" } }, ["m-canary-1"]],
    ["URLs", { healthcheck: { test: ["CMD", "curl", "http://u:h-canary-1@h"] } }, ["h-canary-1"]],
    [
      "nothing else",
      { image: "shop:1", user: "token-user", secrets: [{ source: "password1" }] },
      [],
    ],
    ["no number or switch", { environment: { TOKEN: 1, AUTH: true, SECRET: null, KEY: "" } }, []],
  ];
  for (const [what, web, expected] of rows) {
    it(`secretsInModel() finds those of ${what}`, async () => {
      const found = await secretsInModel({ services: { web } }, PAUSES);
      assert.deepEqual(found.sort(), expected);
    });
  }

  it("secretsInModel() leaves out what the model calls its things", async () => {
    const model = {
      name: "the-shop-stack",
      services: {
        "admin-tool": { image: "acme/shop-image:1", environment: { A_TOKEN: "admin-tool" } },
      },
      volumes: { data: { name: "shop-volume", driver_opts: { password: "shop-volume" } } },
      x: { environment: { PASSWORD: "shop-image", SECRET: "the-shop", KEY: "hidden-1" } },
    };
    assert.deepEqual(await secretsInModel(model, PAUSES), ["hidden-1"]);
  });
});

describe("stepsToSecrets()", () => {
  it("stepsToSecrets() knows external ones, kept ones, and those by name, use and place", () => {
    const steps = stepsToSecrets({
      model: {
        services: { web: { environment: { PASSWORD: "in-model-1" } } },
        secrets: { s: { environment: "PLAIN" } },
      },
      invocation: {
        environment: {
          STORED: "from-store",
          PLAIN: "as a secret",
          API_KEY: "by-name-1",
          X: "plain-1",
        },
        envFiles: [],
        profiles: [],
        secretVariables: ["STORED"],
        secrets: ["kept-before"],
      },
    });
    const expected = ["from-store", "kept-before", "as a secret", "by-name-1", "in-model-1"];
    assert.deepEqual([...steps].flat().sort(), expected.sort());
  });
});

describe("registrySecrets()", () => {
  const auth = (text: string) => btoa(text);
  it("registrySecrets() finds every credential of a client's configuration", () => {
    const found = registrySecrets(JSON.stringify({
      auths: {
        a: { auth: auth("robot:pass:word") },
        b: { username: "u", password: "written" },
        c: { identitytoken: "identity", registrytoken: "registry" },
        d: {},
      },
      HttpHeaders: { "X-Meta": "header" },
      proxies: { default: { httpProxy: "http://u:proxy-pass@h:1" } },
    }));
    assert.deepEqual(
      new Set(found),
      new Set([
        auth("robot:pass:word"),
        "pass:word",
        "written",
        "identity",
        "registry",
        "header",
        "proxy-pass",
      ]),
    );
  });

  it("registrySecrets() finds none in what is no configuration", () => {
    for (const text of ["", "{", "[]", "null", "{}", '{"auths": []}', '{"auths": {"a": 1}}']) {
      assert.deepEqual(registrySecrets(text), [], text);
    }
  });
});

describe("pauses of secretsInModel()", () => {
  it("pauses while it looks for its texts in names", async () => {
    const image = "n".repeat(10_000);
    const texts = Array.from(
      { length: 1000 },
      (_, each) => [`A${each}_PASSWORD`, `secret-${each}`],
    );
    const model = { services: { a: { image, environment: Object.fromEntries(texts) } } };
    let looked = 0;
    const pauses = { after: (characters: number) => void (looked += characters) };
    const found = await secretsInModel(model, pauses);
    assert.equal(found.length, 1000);
    assert.ok(looked > 500_000, String(looked));
  });
});
