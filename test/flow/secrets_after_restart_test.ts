import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writtenLines } from "../fakes/recording_log.ts";
import {
  createAgeKeys,
  encryptBinary,
  encryptDotenv,
  encryptYaml,
} from "../fakes/sops_encryptor.ts";
import { stackAsOwner } from "../../src/system/mod.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, forgetTexts, inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

/** A value that looks random, and a word: hidden everywhere, and in texts about the stack. */
const [TOKEN, WORD] = ["zk93Qx77plmWcanary", "hunterwolf"];
const PRINTED = `connecting with ${TOKEN} and ${WORD}`;
const NIGHTLY = service({
  env_file: ["app.env"],
  labels: {
    "stackwright.job.enabled": "true",
    "stackwright.job.schedule": "0 0 1 1 *",
    "stackwright.job.execution_mode": "restart",
    "stackwright.job.max_duration": "2m",
  },
});
const COMPOSE = composeFile({
  web: service({ env_file: ["app.env"] }),
  nightly: NIGHTLY,
});

/** The containers of the stack end when they are started, and have printed their secrets. */
function endsPrinting(world: World): void {
  for (const name of ["web", "nightly"]) {
    world.fake?.setBehaviour(name, { exit: 3 });
    world.fake?.writeLog(`${world.stack}-${name}-1`, PRINTED);
  }
}

async function answerOf(world: World, path: string): Promise<string> {
  const text = await (await world.request(path, { method: "POST" })).text();
  assert.match(text, /connecting with \*\*\* and \*\*\*/);
  return text;
}

/** No secret in what was logged since, or in the ledger, whose models are sealed. */
async function assertHidden(world: World, from: number): Promise<void> {
  const lines = writtenLines(world.lines.slice(from), world.redactor).join("");
  const runs = await (await world.request("/v1/api/runs")).text();
  const files = ["state.db", "state.db-wal"].map((name) =>
    readFile(join(world.dataDir, name), "latin1").catch(() => "")
  );
  for (const text of [lines, runs, ...await Promise.all(files)]) {
    assert.ok(!text.includes(TOKEN), text.slice(0, 2000));
    assert.ok(!text.includes(WORD), text.slice(0, 2000));
  }
}

describe("secrets of a stack that was deployed before the service started", () => {
  const actions = [
    ["a restart of its project", (stack: string) => `/v1/api/project/${stack}/restart`],
    ["a job that restarts its container", (stack: string) => `/v1/api/job/${stack}-nightly-1/run`],
  ] as const;
  for (const [what, path] of actions) {
    it(`are hidden in what its containers print at ${what}`, () =>
      inWorld("fake", async (world) => {
        await commit(world, {
          "compose.yaml": COMPOSE,
          "app.env": `A_KEY=${TOKEN}\nB_PASS=${WORD}\n`,
        });
        world.fake?.setBehaviour("nightly", { exit: 0 });
        await pollTo(world, "succeeded");
        await world.restart();
        const before = world.lines.length;
        endsPrinting(world);
        await answerOf(world, path(world.stack));
        await assertHidden(world, before);
      }));
  }

  it("are read at the first look, also where nothing changed: what is stored of it may have them", () =>
    inWorld("fake", async (world) => {
      await commit(world, {
        "compose.yaml": COMPOSE,
        "app.env": `A_KEY=${TOKEN}\nB_PASS=${WORD}\n`,
      });
      await pollTo(world, "succeeded");
      await world.restart();
      const before = world.lines.length;
      await pollTo(world, "skipped");
      writtenLines(world.lines.slice(before), world.redactor);
      assert.equal(world.redactor.redact(TOKEN), "***");
    }));

  it("are hidden also where another process has deployed them since", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      await world.request(`/v1/api/project/${world.stack}/restart`, { method: "POST" });
      await commit(world, {
        "compose.yaml": COMPOSE,
        "app.env": `A_KEY=${TOKEN}\nB_PASS=${WORD}\n`,
      });
      await commandTo(world, 0, ["apply", world.repository.url]);
      const before = world.lines.length;
      endsPrinting(world);
      await answerOf(world, `/v1/api/project/${world.stack}/restart`);
      await assertHidden(world, before);
    }));
});

describe("what is known of a stack", () => {
  /** A value that looks random and a word, of each kind. */
  const KINDS = {
    mounted: ["zk01Qx77plmWcanary", "hunterwolf"],
    deep: ["zk02Qx77plmWcanary", "marblefish"],
    config: ["zk03Qx77plmWcanary", "goldenbirch"],
    dotenv: ["zk04Qx77plmWcanary", "silverotter"],
    configuration: ["zk05Qx77plmWcanary", "violetheron"],
    argument: ["zk06Qx77plmWcanary", "indigoswift"],
    secretDirectory: ["zk07Qx77plmWcanary", "purplelynx"],
    secretConfig: ["zk08Qx77plmWcanary", "orangemoth"],
    inline: ["zk09Qx77plmWcanary", "yellowcrane"],
    unused: ["zk10Qx77plmWcanary", "crimsonhare"],
  } as const;
  const all = Object.values(KINDS).flat();

  async function deploy(world: World, recipients: string[], more = ""): Promise<void> {
    const options = { recipients };
    const pair = ([token, word]: readonly [string, string]) => ({ token, user: word });
    const [argument, second] = KINDS.argument;
    await world.repository.commit({
      ".stackwright.yaml": await encryptYaml({
        name: world.stack,
        environment: { LOGIN: KINDS.configuration[0], USER_NAME: KINDS.configuration[1] },
        build: { args: { NPM_TOKEN: argument, A_PASSWORD: second } },
      }, options),
      "compose.yaml": composeFile({
        web: service({
          environment: { LOGIN: "${LOGIN}", USER_NAME: "${USER_NAME}", MORE: more },
          env_file: ["app.env"],
          volumes: ["./app.yaml:/app.yaml:ro", "./config:/config:ro", "./secrets:/run/secrets/:ro"],
          configs: [
            { source: "plain", target: "/app/config" },
            { source: "secret", target: "/run/secrets/c" },
            { source: "inline", target: "/run/secrets/d" },
          ],
        }),
        nightly: NIGHTLY,
        off: service({
          profiles: ["off"],
          environment: { A_TOKEN: KINDS.unused[0], B_PASSWORD: KINDS.unused[1] },
        }),
      }, {
        configs: {
          plain: { file: "./config.bin" },
          secret: { file: "./c.txt" },
          inline: { content: KINDS.inline.join("\n") },
        },
      }),
      "app.yaml": await encryptYaml(pair(KINDS.mounted), options),
      "config/deep/app.yaml": await encryptYaml(pair(KINDS.deep), options),
      "config.bin": await encryptBinary(
        `A=${KINDS.config[0]}\nB=${KINDS.config[1]}\n`,
        options,
      ),
      "app.env": await encryptDotenv(`A=${KINDS.dotenv[0]}\nB=${KINDS.dotenv[1]}\n`, options),
      "secrets/deep/db": `${KINDS.secretDirectory.join("\n")}\n`,
      "c.txt": `${KINDS.secretConfig.join("\n")}\n`,
    });
    world.fake?.setBehaviour("nightly", { exit: 0 });
    await pollTo(world, "succeeded");
  }

  /** The texts that are shown in one about the stack. */
  const shownIn = ({ redactor, stack }: World) =>
    all.filter((each) =>
      redactor.redact(each, stackAsOwner({ context: "default", name: stack })) === each
    );

  for (const times of [1, 2]) {
    it(`is the same after a restart: release ${times}`, async () => {
      const keys = await createAgeKeys();
      const env = { SOPS_AGE_KEY: keys.identity };
      await inWorld("fake", async (world) => {
        for (let time = 0; time < times; time++) await deploy(world, [keys.recipient], `${time}`);
        assert.deepEqual(shownIn(world), []);
        await world.restart();
        assert.deepEqual(shownIn(world), []);
      }, env);
    });
  }

  it("is completed for a release of an older version before its containers start", async () => {
    const keys = await createAgeKeys();
    await inWorld("fake", async (world) => {
      await deploy(world, [keys.recipient]);
      await world.stop();
      await forgetTexts(world);
      await world.restart();
      assert.ok(shownIn(world).includes(KINDS.mounted[0]));
      const path = `/v1/api/job/${world.stack}-nightly-1/run`;
      assert.equal((await world.request(path, { method: "POST" })).status, 200);
      const shown = shownIn(world);
      for (const each of [...KINDS.mounted, ...KINDS.deep]) assert.ok(!shown.includes(each), each);
      await pollTo(world, "skipped");
      await world.restart();
      assert.deepEqual(shownIn(world), []);
    }, { SOPS_AGE_KEY: keys.identity });
  });
});
