import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { command } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import { type Commands, systemCommands } from "../../src/system/mod.ts";
import { createWorld, type World } from "./world.ts";

const THEM = "git.example.com/them/shop";
const DOCO = { "cd.doco.source.url": "https://git.example.com/them/shop" };

/** Labels of a stack that another Stackwright, with a ledger of its own, deployed. */
const stackwrights = ({ stack }: World) => ({
  "stackwright.manager": "stackwright",
  "stackwright.deployment": stack,
  "stackwright.source.configuration": THEM,
  "stackwright.source.name": THEM,
});

const web = (more: Part) => ({
  "compose.yaml": composeFile({ web: service({ network_mode: "none", ...more }) }),
});

/** Deploys a stack of whose current release nothing is on the engine. */
async function deployNothing(
  world: World,
  more: Part = { reconciliation: { drift: "repair" } },
): Promise<void> {
  await commit(world, web({}), more);
  await pollTo(world, "succeeded");
  await commit(world, web({ scale: 0 }), more);
  await pollTo(world, "succeeded");
  assert.deepEqual(await states(world), {});
}

const refused = async (world: World) => {
  const line = new RegExp(`^nothing is repaired: .* already runs from \\S*${THEM}`);
  await until(() => Promise.resolve(world.lines.some(({ message }) => line.test(message))));
};

describe("containers of another manager under the name of a stack of which nothing runs", () => {
  it("are not repaired, whatever happens to them, nor rolled back", () =>
    inWorld("fake", async (world) => {
      await deployNothing(world);
      await startByHand(world, composeFile({ web: service({ labels: stackwrights(world) }) }));
      await refused(world);
      assert.deepEqual(await states(world), { "web-1": "running" });
      const { code, err } = await command(world, ["rollback", world.stack]);
      assert.notEqual(code, 0, err);
      assert.match(err, new RegExp(`already runs from ${THEM}`));
      assert.deepEqual(await states(world), { "web-1": "running" });
    }));

  it("are not repaired after a start: doco-cd's of another repository", () =>
    inWorld("fake", async (world) => {
      await deployNothing(world);
      await world.stop();
      await startByHand(world, composeFile({ app: service({ labels: DOCO }) }));
      await world.restart();
      await refused(world);
      assert.deepEqual(await states(world), { "app-1": "running" });
    }));

  it("are not removed by a change to a swarm that they come in the middle of", async () => {
    let came = 0;
    const run: Commands["run"] = async (asked, signal) => {
      if (isChanging && asked.argv.includes("config") && came++ === 0) {
        await startByHand(world, composeFile({ web: service({ labels: stackwrights(world) }) }));
      }
      return await systemCommands.run(asked, signal);
    };
    let isChanging = false;
    const world = await createWorld({ engine: "fake", commands: { ...systemCommands, run } });
    try {
      world.fake?.becomeManager();
      await deployNothing(world, { swarm: { enabled: false } });
      isChanging = true;
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      const failed = JSON.stringify(await pollTo(world, "failed"));
      assert.equal(came > 0, true, "they came");
      // The latter where their start was seen while the stack was lent, and all was decided again.
      assert.match(failed, new RegExp(`(?:already runs from|belongs to) ${THEM}`));
      assert.deepEqual(await states(world), { "web-1": "running" });
    } finally {
      await world.close();
    }
  });

  it("are repaired where they are the stack's own: labelled by an older version", () =>
    inWorld("fake", async (world) => {
      await commit(world, web({}), { reconciliation: { events: ["destroy"] } });
      await pollTo(world, "succeeded");
      const [own] = await world.containers();
      const { "stackwright.source.configuration": _, ...labels } = own?.labels ?? {};
      await startByHand(world, composeFile({ old: service({ labels }), web: service({ labels }) }));
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await until(async () => (await states(world))["web-1"] === "running");
    }));

  it("are not stopped by a job of the repository that has the name", () =>
    inWorld("fake", async (world) => {
      const job = {
        "stackwright.job.enabled": "true",
        "stackwright.job.schedule": "0 0 1 1 *",
        "stackwright.job.execution_mode": "one_off",
        "stackwright.job.stop_services": `${world.stack}/web`,
      };
      await world.repository.commit({
        ...web({ scale: 0 }),
        "job.yaml": composeFile({ backup: service({ labels: job }) }),
        ".stackwright.yaml": `name: ${world.stack}\n---\nname: ${world.stack}-j\n` +
          "compose_files: [job.yaml]\n",
      });
      await pollTo(world, "succeeded");
      await startByHand(world, composeFile({ web: service({ labels: stackwrights(world) }) }));
      const path = `/v1/api/job/${world.stack}-j-backup-1/run?wait=true`;
      const answer = await (await world.request(path, { method: "POST" })).text();
      assert.match(answer, new RegExp(`${world.stack} runs from ${THEM}; a job stops`));
      assert.deepEqual(await states(world), { "web-1": "running" });
    }));
});
