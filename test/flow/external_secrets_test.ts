import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type OpenBaoServer, startOpenBaoServer } from "../fakes/openbao_server.ts";
import { writtenLines } from "../fakes/recording_log.ts";
import { run as runCommandLine } from "../unit/cli/command_line.ts";
import { command } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import {
  commit,
  docker,
  ids,
  inWorld,
  label,
  pollTo,
  readInside,
  reasons,
  replaced,
} from "./steps.ts";
import { engines, type World } from "./world.ts";

const TOKEN = "canary-token-c2a9";
/** Values with everything that could be taken for more than text. */
const FIRST = {
  db: "canary-db-1 $HOME ${X} \"q\" 's' \\",
  api: "canary-api-1",
  url: "canary-url-1",
};
const SECOND = { db: "canary-db-2", api: "canary-api-2", url: "canary-url-2" };

const COMPOSE = composeFile({
  web: service({ environment: { PASSWORD: "${DB_PASSWORD}", PLAIN: "${PLAIN:-none}" } }),
  sidecar: service({ secrets: ["api"] }),
  caller: service({ command: ["sh", "-c", "exec sleep 100000", "${STORE_URL}"] }),
  other: service(),
}, { secrets: { api: { environment: "API_TOKEN" } } });

/** Two secrets of the configuration itself, one of a file, which also has one that is overridden. */
const CONFIGURATION: Part = {
  external_secrets: { DB_PASSWORD: "kv:kv:shop:db", API_TOKEN: "kv:kv:shop:api" },
  external_secrets_files: ["secrets/a.yaml", "remote:secrets/b.yaml"],
};

const FILES = {
  "compose.yaml": COMPOSE,
  "secrets/a.yaml": "STORE_URL: kv:kv:shop:db\nDB_PASSWORD: kv:kv:gone:gone\n",
  "secrets/b.yaml": "STORE_URL: kv:kv:shop:url\n",
};

for (const engine of await engines()) {
  describe(`external secrets on the ${engine} engine`, () => {
    it("reach the containers, and a rotated one replaces exactly the services that use it", async () => {
      await withStore(engine, async (world, store) => {
        await commit(world, FILES, CONFIGURATION);
        await pollTo(world, "succeeded");
        assert.ok((await environment(world, "web")).includes(`PASSWORD=${FIRST.db}`));
        if (engine === "real") {
          assert.equal(await readInside(world, "sidecar", "/run/secrets/api"), FIRST.api);
        }
        assert.equal(
          store.requests.filter((each) => each.url.pathname.endsWith("/shop")).length,
          1,
        );

        const first = await ids(world);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);

        for (
          const [changed, container, reason] of [
            ["db", "web-1", /its definition changed/],
            ["api", "sidecar-1", /the variable API_TOKEN changed/],
            ["url", "caller-1", /its definition changed/],
          ] as const
        ) {
          const before = await ids(world);
          store.write("kv/shop", { ...FIRST, [changed]: SECOND[changed] });
          await pollTo(world, "succeeded");
          const back = await ids(world);
          assert.deepEqual(replaced(before, back), [container], changed);
          store.write("kv/shop", FIRST);
          const again = await pollTo(world, "succeeded");
          assert.deepEqual(replaced(back, await ids(world)), [container], `${changed} back`);
          assert.match(reasons(again, container.slice(0, -2)), reason);
        }
        assert.equal((await ids(world))["other-1"], first["other-1"]);
        await assertSilent(world);
      });
    });

    // The rest is about us. What a store says is settled before an engine hears of it; that it reaches
    // containers is above.
    if (engine === "real") return;

    it("that a failing container prints are in no message about it", async () => {
      if (engine === "fake") return;
      await withStore(engine, async (world) => {
        const prints = service({
          command: ["sh", "-c", 'echo "login with $$PASSWORD failed"; exit 3'],
          environment: { PASSWORD: "${DB_PASSWORD}" },
        });
        await commit(world, { ...FILES, "compose.yaml": composeFile({ web: prints }) }, {
          external_secrets: { DB_PASSWORD: "kv:kv:shop:api" },
        });
        const { deployments } = await pollTo(world, "failed");
        assert.match(deployments?.[0]?.message ?? "", /login with \*\*\* failed/);
        for (const args of [["explain", world.stack], ["history", world.stack, "--json"]]) {
          const { out, err } = await command(world, args);
          assert.ok(!`${out}${err}`.includes("canary"), out + err);
        }
        await assertSilent(world);
      });
    });

    it("of a store that is away or refuses leave everything as it is, and say what is wrong", async () => {
      await withStore(engine, async (world, store) => {
        await commit(world, FILES, CONFIGURATION);
        await pollTo(world, "succeeded");
        const before = await ids(world);
        world.proxy.reset();
        for (
          const [fault, reason] of [
            [{ status: 500, value: { errors: [FIRST.db] } }, /fails \(HTTP 500\)/],
            [{ status: 403, value: {} }, /does not let .* read it \(HTTP 403\)/],
            ["drop", /GET http:\/\/127\.0\.0\.1:\d+: /],
          ] as const
        ) {
          store.fail(fault);
          const { deployments } = await pollTo(world, "failed");
          const message = deployments?.[0]?.message ?? "";
          assert.match(
            message,
            /could not be read from openbao: API_TOKEN, DB_PASSWORD, STORE_URL: /,
          );
          assert.match(message, reason);
        }
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);
        store.fail(undefined);
        await pollTo(world, "skipped");
        await assertSilent(world);
      });
    });

    it("fail only the deployment that refers to something unknown", async () => {
      await withStore(engine, async (world) => {
        const other = `${world.stack}-b`;
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        const entry = {
          deployments: [
            {
              name: world.stack,
              external_secrets: { A: "kv:kv:shop:gone", B: { store_ref: "s" } },
            },
            { name: other, external_secrets: { A: "kv:kv:shop:db" } },
          ],
        };
        const { deployments } = await pollTo(world, "failed", entry);
        const [bad, good] = [world.stack, other].map((name) =>
          deployments?.find((each) => each.stack === name)
        );
        assert.equal(good?.status, "succeeded", JSON.stringify(good));
        assert.match(
          bad?.message ?? "",
          /from openbao: A: key gone of secret shop is not there; B: /,
        );
        assert.match(bad?.message ?? "", /B: store_ref is for the webhook provider only/);
        assert.deepEqual(await world.containers(), []);
      });
    });

    it("win over environment and dotenv files", async () => {
      await withStore(engine, async (world, store) => {
        store.write("kv/shop", { db: "from the store" });
        await commit(world, {
          "compose.yaml": composeFile({ web: service({ labels: { value: "${VALUE}" } }) }),
          "app.env": "VALUE=from a file\n",
        }, {
          env_files: ["app.env"],
          environment: { VALUE: "from the configuration" },
          external_secrets: { VALUE: "kv:kv:shop:db" },
        });
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "value"), "from the store");
      });
    });

    it("are a failure without a provider", async () => {
      await inWorld(engine, async (world) => {
        await commit(world, FILES, CONFIGURATION);
        const { deployments } = await pollTo(world, "failed");
        assert.match(
          deployments?.[0]?.message ?? "",
          /API_TOKEN, DB_PASSWORD, STORE_URL: there is no secret provider; set SECRET_PROVIDER/,
        );
        assert.deepEqual(await world.containers(), []);
      });
    });
  });
}

describe("external_secrets_files", () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ["that is missing", {}, /external_secrets_files: no such file in local\/.*: s\.yaml/],
    ["that is no mapping", { "s.yaml": "- a\n" }, /s\.yaml:1:1: expected one mapping/],
    ["of two documents", { "s.yaml": "A: b\n---\nC: d\n" }, /expected one mapping/],
    ["with another shape", { "s.yaml": "A: [hidden]\n" }, /s\.yaml:1:4: A: expected a secret/],
    ["with a camel case key", { "s.yaml": "A: {storeRef: s}\n" }, /1:5: A\.storeRef: unknown key/],
    ["that is no YAML", { "s.yaml": 'A: "hidden\n' }, /s\.yaml:\d+:\d+: not valid YAML/],
  ];
  for (const [what, files, message] of rows) {
    it(`fail the deployment for a file ${what}`, async () => {
      await withStore("fake", async (world) => {
        await commit(world, { "compose.yaml": composeFile({ web: service() }), ...files }, {
          external_secrets_files: ["s.yaml"],
        });
        const { deployments } = await pollTo(world, "failed");
        assert.match(deployments?.[0]?.message ?? "", message);
        assert.ok(!deployments?.[0]?.message?.includes("hidden"));
        assert.deepEqual(await world.containers(), []);
      });
    });
  }
});

describe("stackwright plan", () => {
  it("resolves external secrets, shows that one changed, and shows no value", async () => {
    await withStore("fake", async (world, store) => {
      await commit(world, FILES, CONFIGURATION);
      await pollTo(world, "succeeded");
      store.write("kv/shop", SECOND);
      const env = { ...world.env, HOME: world.env["DOCKER_CONFIG"] ?? "" };
      world.proxy.reset();
      const plain = await runCommandLine(["plan", "--ref", "main", world.repository.url], { env });
      assert.equal(plain.code, 2, plain.err);
      assert.match(plain.out, /web.*recreate|recreate.*web/);
      assert.match(plain.out, /^-.*\*\*\* \([0-9a-f]{8}\)/m);
      assert.match(plain.out, /^\+.*\*\*\* \([0-9a-f]{8}\)/m);
      assert.ok(!/canary/.test(plain.out + plain.err), plain.out + plain.err);
      const diff = await runCommandLine(["history", world.stack], { env });
      assert.ok(!/canary/.test(diff.out + diff.err));
      store.fail({ status: 403, value: {} });
      const failed = await runCommandLine(["plan", "--ref", "main", world.repository.url], { env });
      assert.equal(failed.code, 1);
      assert.match(failed.err, /DB_PASSWORD.*HTTP 403/);
      assert.equal(world.proxy.mutations(), 0);
    });
  });
});

function settings(store: OpenBaoServer): Record<string, string> {
  return {
    SECRET_PROVIDER: "openbao",
    SECRET_PROVIDER_SITE_URL: store.origin,
    SECRET_PROVIDER_ACCESS_TOKEN: TOKEN,
  };
}

async function withStore(
  engine: "fake" | "real",
  test: (world: World, store: OpenBaoServer) => Promise<void>,
): Promise<void> {
  const store = await startOpenBaoServer({ token: TOKEN, engines: { kv: 2 } });
  try {
    store.write("kv/shop", FIRST);
    await inWorld(engine, (world) => test(world, store), settings(store));
  } finally {
    await store.close();
  }
}

async function environment(world: World, name: string): Promise<readonly string[]> {
  const id = (await ids(world))[`${name}-1`] ?? "";
  return JSON.parse(await docker(world, "inspect", "--format", "{{json .Config.Env}}", id));
}

/** No canary in a log line, a run, a response or a file of the data directory. */
async function assertSilent(world: World): Promise<void> {
  for (const line of writtenLines(world.lines, world.redactor)) {
    assert.ok(!line.includes("canary"), line);
  }
  const runs = await (await world.request("/v1/api/runs")).text();
  assert.ok(runs.includes(world.stack) && !runs.includes("canary"), runs);
  const entries = await readdir(world.dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile());
  assert.ok(files.some((each) => each.name === "state.db"));
  for (const file of files) {
    const path = join(file.parentPath, file.name);
    assert.ok(!(await readFile(path)).includes("canary"), path);
  }
}
