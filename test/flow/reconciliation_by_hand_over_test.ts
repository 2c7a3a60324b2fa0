import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

const NEW_OWNER = "git.example.com/them/shop";
const NAMES = ["a", "b", "c"];

/** Containers that take no notice of the signal to end, and are unhealthy when a test says so. */
const stubborn = service({
  command: ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
  healthcheck: { test: ["CMD", "test", "!", "-e", "/sick"], interval: "500ms", retries: 1 },
});

async function sicken(world: World): Promise<void> {
  for (const name of NAMES) {
    const container = `${world.stack}-${name}-1`;
    if (world.fake !== undefined) world.fake.setHealth(container, "unhealthy");
    else await docker(world, "exec", container, "touch", "/sick");
  }
}

const restarts = (world: World) =>
  world.proxy.calls.map(({ path }) => path).filter((path) => path.includes("/restart"));

// Who watches what no engine decides.
describe("restarts of unhealthy containers of a stack that is handed over", () => {
  const engine = "fake";
  it("end: the one that was begun comes back at once, and no other is restarted", () =>
    inWorld(engine, async (world) => {
      const services = Object.fromEntries(NAMES.map((name) => [name, stubborn]));
      const reconciliation = { events: ["unhealthy"], restart_timeout: "30m", restart_limit: 0 };
      await commit(world, { "compose.yaml": composeFile(services) }, { reconciliation });
      await pollTo(world, "succeeded");
      // The fake engine would restart at once: that call hangs.
      if (engine === "fake") world.proxy.reset({ kind: "timeout", at: 1, among: "mutating" });
      await sicken(world);
      await until(() => Promise.resolve(restarts(world).length > 0));
      await commandTo(world, 0, ["adopt", world.stack, "--source", NEW_OWNER]);
      const told = () =>
        world.lines.filter(({ message }) => /handed over to .* under way/.test(message));
      await until(() => Promise.resolve(told().length > 0));
      const all = restarts(world);
      assert.equal(all.length, 2, all.join());
      assert.match(all[0] ?? "", /\?t=1800$/);
      assert.match(all[1] ?? "", /\?t=0$/);
      await until(async () =>
        Object.values(await states(world)).every((each) => each === "running")
      );
      assert.equal(restarts(world).length, 2);
    }));
});
