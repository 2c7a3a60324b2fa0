import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writtenLines } from "../fakes/recording_log.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

/** A value that looks random, and a word: hidden everywhere, and in texts about the stack. */
const [TOKEN, WORD] = ["zk93Qx77plmWcanary", "hunterwolf"];
const PRINTED = `connecting with ${TOKEN} and ${WORD}`;
const COMPOSE = composeFile({
  web: service({ env_file: ["app.env"] }),
  nightly: service({
    env_file: ["app.env"],
    labels: {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "0 0 1 1 *",
      "stackwright.job.execution_mode": "restart",
      "stackwright.job.max_duration": "2m",
    },
  }),
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

  it("are not read for looks at which nothing changed", () =>
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
      assert.equal(world.redactor.redact(TOKEN), TOKEN);
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
