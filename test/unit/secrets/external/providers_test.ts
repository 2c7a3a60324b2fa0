import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSecretStores, type SecretProviderOptions } from "../../../../src/config/mod.ts";
import { isStackwrightError, type SecretReference } from "../../../../src/model/mod.ts";
import { createAzureKeyVault, createSecretProvider } from "../../../../src/secrets/mod.ts";
import { createHttpClient } from "../../../../src/system/mod.ts";
import { startAwsSecretsServer } from "../../../fakes/aws_secrets_server.ts";
import { startAzureVaultServer } from "../../../fakes/azure_vault_server.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";
import { startInfisicalServer } from "../../../fakes/infisical_server.ts";
import { type JsonServer, startJsonServer } from "../../../fakes/json_server.ts";
import { startOnePasswordServer } from "../../../fakes/onepassword_server.ts";
import { startOpenBaoServer } from "../../../fakes/openbao_server.ts";

const SIGNAL = new AbortController().signal;
const CANARY = "canary-value-1f6e";
const ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf";
const LOGIN = "canary-credential-77aa";

/** A provider with its store, and one reference that can be read. */
interface Bench {
  readonly options: SecretProviderOptions;
  readonly server: JsonServer;
  readonly good: SecretReference;
  /** The same provider with credentials that the store does not accept. */
  readonly stranger: SecretProviderOptions;
  /** A reference of the right shape that the store does not have. */
  readonly absent: SecretReference;
}

const text = (value: string): SecretReference => ({ kind: "text", text: value });
const store = (remoteRef: Record<string, string>, storeRef = "vault"): SecretReference => ({
  kind: "store",
  storeRef,
  remoteRef,
});

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  async openbao() {
    const server = await startOpenBaoServer({ token: LOGIN, engines: { "team/kv": 2, old: 1 } });
    server.write("team/kv/apps/shop", { password: CANARY, port: 5432 });
    server.write("old/shop", { password: "first" });
    const options = { kind: "openbao" as const, siteUrl: server.origin, accessToken: LOGIN };
    return {
      options,
      server,
      stranger: { ...options, accessToken: "wrong" },
      good: text("kv:team/kv:apps/shop:password"),
      absent: text("kv:team/kv:apps/gone:password"),
    };
  },
  async infisical() {
    const server = await startInfisicalServer({ clientId: "me", clientSecret: LOGIN });
    server.write("p1:prod:/PASSWORD", CANARY);
    server.write("p1:prod:/db/main/PASSWORD", "deep");
    const options = {
      kind: "infisical" as const,
      siteUrl: server.origin,
      clientId: "me",
      clientSecret: LOGIN,
    };
    return {
      options,
      server,
      stranger: { ...options, clientSecret: "wrong" },
      good: text("p1:prod:PASSWORD"),
      absent: text("p1:prod:GONE"),
    };
  },
  async aws_sm() {
    const access = { region: "eu-central-1", accessKeyId: "AKID", secretAccessKey: LOGIN };
    const server = await startAwsSecretsServer(access);
    server.write(ARN, { SecretString: CANARY });
    server.write(`${ARN}2`, { SecretString: JSON.stringify({ user: "bob", "a/b": 5 }) });
    server.write(`${ARN}3`, { SecretBinary: btoa("from bytes") });
    const options = { kind: "aws_sm" as const, ...access, siteUrl: `${server.origin}/` };
    return {
      options,
      server,
      stranger: { ...options, secretAccessKey: "wrong" },
      good: text(ARN),
      absent: text("arn:aws:secretsmanager:eu-central-1:123456789012:secret:gone-AbCdEf"),
    };
  },
  async azure_kv() {
    const client = { tenantId: "t-1", clientId: "c-1", clientSecret: LOGIN };
    const server = await startAzureVaultServer(client);
    server.write("db-password", CANARY);
    server.write("db-password/0123abcd", "older");
    const identity = { kind: "client" as const, authorityUrl: server.origin, ...client };
    const options = { kind: "azure_kv" as const, vaultUrl: server.origin, identity };
    return {
      options,
      server,
      stranger: { ...options, identity: { ...identity, clientSecret: "wrong" } },
      good: text("db-password"),
      absent: text("gone"),
    };
  },
  async "1password"() {
    const server = await startOnePasswordServer({ token: LOGIN, vaults: [vault()] });
    const options = {
      kind: "1password" as const,
      connectHost: server.origin,
      connectToken: LOGIN,
    };
    return {
      options,
      server,
      stranger: { ...options, connectToken: "wrong" },
      good: text("op://Prod/Data base/password"),
      absent: text("op://Prod/Gone/password"),
    };
  },
  async webhook() {
    const server = await startJsonServer(({ url, headers }) => {
      if (headers["authorization"] !== `Bearer ${LOGIN}`) return { status: 401, value: {} };
      if (url.pathname !== "/items/shop") return { status: 404, value: {} };
      return {
        status: 200,
        value: { fields: [{ name: "port", value: 5432 }, { name: "pw", value: CANARY }] },
      };
    });
    const stores = parseSecretStores(
      `
name: vault
url: ${server.origin}/items/{{ .remote_ref.item | urlencode }}
headers: {Authorization: "Bearer {{ .auth.token }}"}
json_path: "fields[?name=='{{ .remote_ref.field }}'].value"
`,
      "stores",
    );
    const options = { kind: "webhook" as const, stores, auth: { token: LOGIN } };
    return {
      options,
      server,
      stranger: { ...options, auth: { token: "wrong" } },
      good: store({ item: "shop", field: "pw" }),
      absent: store({ item: "gone", field: "pw" }),
    };
  },
};

/** References of each provider beside the good one, and what they give: a value, or a reason. */
const REFERENCES: readonly (readonly [string, SecretReference, string | RegExp])[] = [
  ["openbao", text("kv:old:shop:password"), "first"],
  ["openbao", text("kv:root:old:shop:password"), "first"],
  ["openbao", text("kv:team/kv:apps/shop:port"), "5432"],
  ["openbao", text("kv:team/kv:apps/shop:gone"), /key gone of secret apps\/shop is not there/],
  ["openbao", text("kv:team/kv:apps/../shop:x"), /a \. or \.\. in its path/],
  ["openbao", text("kv:ns:team/kv:apps/shop:password"), /does not have it \(HTTP 404\)/],
  ["openbao", text("pki:engine:example.com"), /pki references are not supported/],
  ["openbao", text("kv:only:two"), /not of the shape kv:/],
  ["openbao", text("kv:a:b:c:d:e"), /not of the shape kv:/],
  ["openbao", text("kv:::"), /not of the shape kv:/],
  ["openbao", text("hunter2"), /not of the shape kv:/],
  ["openbao", text("kv:team/kv:apps/shop:constructor"), /is not there/],
  ["infisical", text("p1:prod:/db/main/PASSWORD"), "deep"],
  ["infisical", text("p1:prod:db/main/PASSWORD"), "deep"],
  ["infisical", text("p1:PASSWORD"), /not of the shape projectId/],
  ["infisical", text("p1:prod:/db/"), /not of the shape projectId/],
  ["aws_sm", text(`${ARN}2/user`), "bob"],
  ["aws_sm", text(`${ARN}2/a/b`), "5"],
  ["aws_sm", text(`${ARN}3`), "from bytes"],
  ["aws_sm", text(`${ARN}2/gone`), /key gone of the secret is not there/],
  ["aws_sm", text(`${ARN}/user`), /not JSON, so it has no key user/],
  ["azure_kv", text("db-password/0123abcd"), "older"],
  ["azure_kv", text("https://vault/secrets/db-password"), /not of the shape name/],
  ["azure_kv", text("../keys/x"), /not of the shape name/],
  ["1password", text("op://vault1abcdefghijklmnopqrst/Data base/password"), CANARY],
  ["1password", text("op://Prod/item1abcdefghijklmnopqrstu/password"), CANARY],
  ["1password", text("op://Prod/Data base/Replica/password"), "second"],
  ["1password", text('op://Prod/The "other" one/note'), "quoted"],
  ["1password", text("op://Prod/Data base/one-time?attribute=otp"), "123456"],
  ["1password", text("op://Prod/Data base/gone"), /the item has no field gone/],
  ["1password", text("op://Prod/Data base/Replica/gone"), /no field Replica\/gone/],
  ["1password", text("op://Prod/Data base/twice"), /several fields twice; use its id/],
  ["1password", text("op://Gone/Data base/password"), /there is no vault Gone/],
  ["1password", text("op://Prod/password"), /not of the shape op:/],
  ["1password", text("op://Prod/x/y?attribute=type"), /the only attribute is otp/],
  ["webhook", store({ item: "shop", field: "port" }), "5432"],
  ["webhook", store({ item: "shop", field: "gone" }), /json_path finds nothing/],
  ["webhook", store({ item: "shop" }), /remote_ref lacks what store vault needs: field/],
  ["webhook", store({}), /needs: field, item/],
  ["webhook", store({ item: "x", field: "y" }, "other"), /there is no store other/],
  ["webhook", store({ item: "..", field: "y" }), /puts \. or \.\. into the address/],
  ["webhook", store({ item: "shop", field: "x' || fields[1].value || 'y" }), /finds nothing/],
  ["webhook", store({ item: "shop", field: "x\\' || fields[1].value || '" }), /finds nothing/],
  ["webhook", text("shop"), /expects an object with store_ref and remote_ref/],
];

/** What a store may do instead of answering, and what is said about it. */
const FAULTS = [
  ["401", { status: 401, value: {} }, /does not accept the credentials.*\(HTTP 401\)/],
  ["403", { status: 403, value: {} }, /does not let .* read it \(HTTP 403\)/],
  ["404", { status: 404, value: {} }, /\(HTTP 404\)|there is no/],
  ["500", { status: 500, value: { error: LOGIN } }, /fails \(HTTP 500\)/],
  ["no JSON", { status: 200, text: `<html>${LOGIN}` }, /answered with something that is not JSON/],
  ["JSON that is cut off", { status: 200, text: '{"data": {' }, /is not JSON/],
  [
    "JSON of another shape",
    { status: 200, value: [] },
    /is not there|no token|no value|there is no|finds nothing/,
  ],
  ["a body without end", { status: 200, text: " ".repeat(70_000) }, /more than 65536 bytes/],
  ["no answer", "hang", /did not answer within 0.4 seconds/],
  ["an end of the connection", "drop", /^(GET|POST) http:\/\/127\.0\.0\.1:\d+: \S/],
] as const;

for (const [name, makeBench] of Object.entries(BENCHES)) {
  describe(`the provider ${name}`, () => {
    it("read() gives the value of a reference, and asks for it once per reader", async () => {
      await withBench(makeBench, async ({ provider, server, good }) => {
        const reader = provider.open();
        assert.equal(await reader.read(good, SIGNAL), CANARY);
        const asked = server.requests.length;
        assert.equal(await reader.read(good, SIGNAL), CANARY);
        assert.equal(server.requests.length, asked);
        assert.equal(await provider.open().read(good, SIGNAL), CANARY);
        assert.ok(server.requests.length > asked, "another reader sees what is there now");
      });
    });

    for (const [, reference, expected] of REFERENCES.filter((each) => each[0] === name)) {
      it(`read() of ${JSON.stringify(reference)} gives ${expected}`, async () => {
        await withBench(makeBench, async ({ provider }) => {
          const read = provider.open().read(reference, SIGNAL);
          if (typeof expected === "string") assert.equal(await read, expected);
          else await assert.rejects(read, refusal(expected));
        });
      });
    }

    if (name !== "webhook") {
      it("read() refuses a reference to a webhook store", async () => {
        await withBench(makeBench, async ({ provider, server }) => {
          const read = provider.open().read(store({ a: "b" }), SIGNAL);
          await assert.rejects(read, refusal(/store_ref is for the webhook provider only/));
          await assert.rejects(provider.open().read(text("  "), SIGNAL), refusal(/is empty/));
          assert.equal(server.requests.length, 0);
        });
      });
    }

    it("read() says that there is no such secret", async () => {
      await withBench(makeBench, async ({ provider, absent }) => {
        const read = provider.open().read(absent, SIGNAL);
        await assert.rejects(read, refusal(/HTTP 404|there is no/));
      });
    });

    it("read() says that the credentials are not accepted", async () => {
      await withBench(makeBench, async ({ strange, good }) => {
        const read = strange.open().read(good, SIGNAL);
        await assert.rejects(read, refusal(/credentials/));
      });
    });

    for (const [what, fault, reason] of FAULTS) {
      it(`read() fails with a reason after ${what}`, async () => {
        await withBench(makeBench, async ({ provider, server, good }) => {
          server.fail(fault);
          await assert.rejects(provider.open().read(good, SIGNAL), refusal(reason));
          if (fault === "hang") return;
          server.fail(undefined);
          assert.equal(await provider.open().read(good, SIGNAL), CANARY, "the next run reads it");
        }, fault === "hang" ? 400 : undefined);
      });
    }

    it("read() never follows a redirect to another host with its credentials", async () => {
      const other = await startJsonServer(() => ({ status: 200, value: {} }));
      try {
        for (const status of [301, 302, 307, 308]) {
          await withBench(makeBench, async ({ provider, server, good }) => {
            server.fail({ status, headers: { location: `${other.origin}/caught` } });
            await assert.rejects(
              provider.open().read(good, SIGNAL),
              refusal(/it redirects to http:\/\/127\.0\.0\.1:\d+, which is not followed/),
            );
          });
        }
        assert.deepEqual(other.requests, []);
      } finally {
        await other.close();
      }
    });

    it("read() waits and asks again when the store has had too many requests", async () => {
      await withBench(makeBench, async ({ provider, server, good, clock }) => {
        server.fail({ status: 429, value: {}, headers: { "retry-after": "3" } }, { times: 2 });
        const read = provider.open().read(good, SIGNAL);
        await moving(clock, read);
        assert.equal(await read, CANARY);
      });
    });

    it("read() gives up after five times of too many requests", async () => {
      await withBench(makeBench, async ({ provider, server, good, clock }) => {
        server.fail({ status: 429, value: {} });
        const read = provider.open().read(good, SIGNAL);
        await moving(clock, read);
        await assert.rejects(read, refusal(/too many requests, also after waiting \(HTTP 429\)/));
        assert.equal(server.requests.length, 6);
      });
    });

    it("read() ends with the reason of its signal", async () => {
      await withBench(makeBench, async ({ provider, server, good }) => {
        server.fail("hang");
        const stop = new AbortController();
        const read = provider.open().read(good, stop.signal);
        read.catch(() => {});
        while (server.requests.length === 0) await new Promise((done) => setTimeout(done, 5));
        stop.abort(new Error("the end"));
        await assert.rejects(read, { message: "the end" });
      });
    });
  });
}

describe("references with many slashes", () => {
  it("aws_sm asks for a bounded number of the secrets that one may mean", async () => {
    await withBench(BENCHES["aws_sm"]!, async ({ provider, server }) => {
      const read = provider.open().read(text(`${ARN}${"/a".repeat(1000)}`), SIGNAL);
      await assert.rejects(read, refusal(/there is no/));
      assert.equal(server.requests.length, 16);
    });
  });
});

describe("logins", () => {
  it("infisical logs in once for many runs, and again when its token is refused", async () => {
    await withBench(BENCHES["infisical"]!, async ({ provider, server, good }) => {
      const logins = () =>
        server.requests.filter((each) => each.url.pathname.endsWith("/login")).length;
      await provider.open().read(good, SIGNAL);
      await provider.open().read(good, SIGNAL);
      assert.equal(logins(), 1);
      (server as Awaited<ReturnType<typeof startInfisicalServer>>).revokeTokens();
      await assert.rejects(provider.open().read(good, SIGNAL), refusal(/HTTP 401/));
      assert.equal(await provider.open().read(good, SIGNAL), CANARY);
      assert.equal(logins(), 2);
    });
  });

  it("infisical logs in again shortly before its token ends", async () => {
    await withBench(BENCHES["infisical"]!, async ({ provider, server, good, clock }) => {
      await provider.open().read(good, SIGNAL);
      await clock.advance(7_139_000);
      await provider.open().read(good, SIGNAL);
      await clock.advance(2_000);
      await provider.open().read(good, SIGNAL);
      const logins = server.requests.filter((each) => each.url.pathname.endsWith("/login"));
      assert.equal(logins.length, 2);
    });
  });

  it("azure takes the identity of the machine where there is no client", async () => {
    const server = await startAzureVaultServer({ tenantId: "", clientId: "", clientSecret: "" });
    const http = createHttpClient();
    try {
      server.write("a", CANARY);
      const provider = createAzureKeyVault(
        { vaultUrl: server.origin, identity: { kind: "managed", clientId: "mine" } },
        { http, clock: createFakeClock(), imdsUrl: server.origin },
      );
      assert.equal(await provider.open().read(text("a"), SIGNAL), CANARY);
      assert.equal(server.requests[0]?.url.searchParams.get("client_id"), "mine");
    } finally {
      http.close();
      await server.close();
    }
  });
});

describe("openbao", () => {
  it("asks for the version of an engine once, and for a secret once for all its keys", async () => {
    await withBench(BENCHES["openbao"]!, async ({ provider, server, good }) => {
      const reader = provider.open();
      await Promise.all([
        reader.read(good, SIGNAL),
        reader.read(text("kv:team/kv:apps/shop:port"), SIGNAL),
      ]);
      assert.deepEqual(server.requests.map((each) => each.url.pathname), [
        "/v1/sys/internal/ui/mounts/team/kv",
        "/v1/team/kv/data/apps/shop",
      ]);
    });
  });

  it("reads of key-value engines only, never of those that know the token it asks with", async () => {
    const asked: string[] = [];
    const server = await startJsonServer(({ url }) => {
      asked.push(url.pathname);
      const mount = /ui\/mounts\/(.*)$/.exec(url.pathname)?.[1];
      const type = mount === "auth/token" ? "token" : mount === "sys" ? "system" : "cubbyhole";
      const data = mount === undefined ? { id: CANARY } : { type, options: null };
      return { status: 200, value: { data } };
    });
    const http = createHttpClient();
    try {
      const options = { kind: "openbao" as const, siteUrl: server.origin, accessToken: LOGIN };
      const parts = { http, clock: createFakeClock(), random: () => 0 };
      const reader = createSecretProvider(options, parts).open();
      for (const place of ["auth/token:lookup-self", "sys:config/state", "cubbyhole:x"]) {
        await assert.rejects(reader.read(text(`kv:${place}:id`), SIGNAL), {
          code: "secret_unresolved",
          message: /there is no key-value engine at .*, but one of type (?:token|system|cubbyhole)/,
        });
      }
      assert.ok(asked.every((path) => path.includes("/ui/mounts/")));
    } finally {
      http.close();
      await server.close();
    }
  });

  it("takes an engine whose version it may not ask for as version 2, in its namespace", async () => {
    const server = await startOpenBaoServer({
      token: LOGIN,
      engines: { kv: 2 },
      mayAskMounts: false,
      namespace: "team",
    });
    const http = createHttpClient();
    try {
      server.write("kv/shop", { password: CANARY });
      const options = { kind: "openbao" as const, siteUrl: server.origin, accessToken: LOGIN };
      const parts = { http, clock: createFakeClock(), random: () => 0 };
      const reader = createSecretProvider(options, parts).open();
      assert.equal(await reader.read(text("kv:team:kv:shop:password"), SIGNAL), CANARY);
    } finally {
      http.close();
      await server.close();
    }
  });
});

interface Ready extends Bench {
  readonly provider: ReturnType<typeof createSecretProvider>;
  readonly strange: ReturnType<typeof createSecretProvider>;
  readonly clock: ReturnType<typeof createFakeClock>;
}

/** A machine that is busy may take long to answer, so only a test of silence has a short limit. */
async function withBench(
  make: () => Promise<Bench>,
  work: (bench: Ready) => Promise<void>,
  timeoutMs = 60_000,
) {
  const bench = await make();
  const http = createHttpClient({ timeoutMs, maxBytes: 65_536 });
  const clock = createFakeClock();
  const parts = { http, clock, random: () => 0.5 };
  const provider = createSecretProvider(bench.options, parts);
  try {
    const strange = createSecretProvider(bench.stranger, parts);
    await work({ ...bench, provider, strange, clock });
  } finally {
    http.close();
    await bench.server.close();
  }
}

/** A refusal for this reason that tells neither value nor credential. */
function refusal(reason: RegExp) {
  return (error: unknown) => {
    const known = isStackwrightError(error, "secret_unresolved", "http_failed", "timeout");
    assert.ok(known, String(error));
    assert.match((error as Error).message, reason);
    assert.ok(!/canary|hunter2|wrong/.test((error as Error).message), (error as Error).message);
    return true;
  };
}

/** Moves time on for as long as somebody sleeps. */
async function moving(clock: ReturnType<typeof createFakeClock>, work: Promise<unknown>) {
  let done = false;
  work.catch(() => {}).finally(() => done = true);
  while (!done) {
    if (clock.sleepers > 0) await clock.advance(60_000);
    else await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function vault() {
  return {
    id: "vault1abcdefghijklmnopqrst",
    name: "Prod",
    items: [{
      id: "item1abcdefghijklmnopqrstu",
      title: "Data base",
      sections: [{ id: "s2", label: "Replica" }],
      fields: [
        { id: "password", label: "password", value: CANARY },
        { id: "f2", label: "password", value: "second", section: { id: "s2" } },
        { id: "f3", label: "twice", value: "a" },
        { id: "f4", label: "twice", value: "b" },
        { id: "f5", label: "one-time", value: "otpauth://x", totp: "123456" },
      ],
    }, {
      id: "item2abcdefghijklmnopqrstu",
      title: 'The "other" one',
      fields: [{ id: "f1", label: "note", value: "quoted" }],
    }],
  };
}
