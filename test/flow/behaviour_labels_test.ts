import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, docker, ids, inWorld, label, pollTo, replaced, states } from "./steps.ts";
import { engines, type World } from "./world.ts";

const AUTOSTART = "stackwright.deployment.autostart";
const ONE_SHOT = "stackwright.deployment.one_shot";

/** A compose file of a `web` that waits for a `tool` that deployments do not start. */
function shop(number: string, tool: Part = {}): Record<string, string> {
  return {
    "compose.yaml": composeFile({
      tool: service({ labels: { [AUTOSTART]: "false", number }, ...tool }),
      web: service({ depends_on: { tool: { condition: "service_started" } } }),
    }),
  };
}

/** A service that ends with a code after a moment; on the fake engine as its image does. */
function task(world: World, code: number, more: Part = {}): Part {
  const labels = { [ONE_SHOT]: "true" };
  if (world.fake === undefined) {
    const command = ["sh", "-c", `sleep 1; echo task ended; exit ${code}`];
    return service({ command, labels, ...more });
  }
  const image = `${world.stack}-task:${code}`;
  world.fake.addImage(image, { where: "engine", onStart: { exit: code, afterMs: 100 } });
  return service({ image, labels, ...more });
}

for (const engine of await engines()) {
  describe(`${AUTOSTART}: "false" on the ${engine} engine`, () => {
    it("stays stopped across a recreation, and is made anew when it is gone", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        const first = await ids(world);
        await commit(world, shop("2"));
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          tool: "recreate",
          web: "keep",
        });
        assert.equal(await label(world, "tool", "number"), "2");
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["tool-1"]);
        assert.deepEqual(await states(world), { "tool-1": "created", "web-1": "running" });
        await docker(world, "rm", "--force", `${world.stack}-tool-1`);
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          tool: "create",
          web: "keep",
        });
        assert.deepEqual(await states(world), { "tool-1": "created", "web-1": "running" });
      }));

    it("that had been started must work after a recreation, or all is put back", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        await docker(world, "start", `${world.stack}-tool-1`);
        world.fake?.addImage(`${world.stack}-bad:1`, { onStart: { exit: 4 } });
        const bad = engine === "fake"
          ? { image: `${world.stack}-bad:1` }
          : { command: ["sh", "-c", "exit 4"] };
        await commit(world, shop("2", bad));
        const run = await pollTo(world, "failed");
        assert.match(run.message ?? "", /service tool: container \S+ stopped with exit code 4/);
        assert.equal(await label(world, "tool", "number"), "1");
        assert.deepEqual(await states(world), { "tool-1": "running", "web-1": "running" });
      }));

    // The rest is about us, not about the engine.
    if (engine === "real") return;

    it("makes the container and does not start it; its dependants start, and it is no drift", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "tool-1": "created", "web-1": "running" });
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("runs again after a recreation when somebody had started it", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        await docker(world, "start", `${world.stack}-tool-1`);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0, "a running one is no drift either");
        await commit(world, shop("2"));
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "tool-1": "running", "web-1": "running" });
        assert.equal(await label(world, "tool", "number"), "2");
        await docker(world, "stop", `${world.stack}-tool-1`);
        await pollTo(world, "skipped");
        assert.equal((await states(world))["tool-1"], "exited");
      }));
  });

  describe(`${ONE_SHOT}: "true" on the ${engine} engine`, () => {
    const files = (world: World, code: number, number = "1", more: Part = {}) => ({
      "compose.yaml": composeFile({
        task: task(world, code, { environment: { NUMBER: number }, ...more }),
        web: service(),
      }),
    });

    it("the deployment waits for its end, which is no drift, and runs it only when it changes", () =>
      inWorld(engine, async (world) => {
        await commit(world, files(world, 0));
        await pollTo(world, "succeeded");
        const [done] = await world.containers();
        assert.deepEqual([done?.service, done?.state, done?.exitCode], ["task", "exited", 0]);
        const first = await ids(world);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        await commit(world, { "README.md": "nothing that matters" });
        await pollTo(world, "skipped");
        assert.deepEqual(await ids(world), first);
        await commit(world, files(world, 0, "2"));
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          task: "recreate",
          web: "keep",
        });
        assert.deepEqual(replaced(first, await ids(world)), ["task-1"]);
      }));

    it("another exit code than 0 fails the deployment, with its last words", () =>
      inWorld(engine, async (world) => {
        await commit(world, files(world, 5));
        const run = await pollTo(world, "failed");
        assert.match(run.message ?? "", /service task: container \S+ stopped with exit code 5/);
        if (engine === "real") assert.match(run.message ?? "", /task ended/);
      }));

    // The rest is about us, not about the engine.
    if (engine === "real") return;

    it("one that does not end in time fails the deployment", () =>
      inWorld(engine, async (world) => {
        const never = {
          "compose.yaml": composeFile({ task: service({ labels: { [ONE_SHOT]: "true" } }) }),
        };
        await commit(world, never, { timeout: 3 });
        const run = await pollTo(world, "failed");
        assert.match(
          run.message ?? "",
          /not healthy within the deployment's timeout: task: has not finished/,
        );
      }));
  });
}
