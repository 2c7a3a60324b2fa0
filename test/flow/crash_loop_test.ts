import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, label, pollTo } from "./steps.ts";
import { createWorld, decidingEngine, type World } from "./world.ts";

for (const engine of await decidingEngine()) {
  /** A world whose service looks every second, or every tenth of one on the fake engine. */
  const inSlowWorld = async (speed: number, test: (world: World) => Promise<void>) => {
    const world = await createWorld({ engine, speed: engine === "fake" ? 10 : speed });
    try {
      await test(world);
    } finally {
      await world.close();
    }
  };
  const web = (value: string, script: string) => ({
    "compose.yaml": composeFile({
      web: service({ command: ["sh", "-c", script], restart: "always", labels: { v: value } }),
    }),
  });

  describe(`containers that the ${engine} engine restarts`, () => {
    it("a service that dies every second is put back, though it runs at most looks", () =>
      inSlowWorld(1, async (world) => {
        await commit(world, web("1", "exec sleep 100000"));
        await pollTo(world, "succeeded");
        await commit(world, web("2", "sleep 1; echo the cause >&2; exit 1"));
        world.fake?.setBehaviour("web", { exit: 1, afterMs: 100 });
        const polled = pollTo(world, "failed");
        await until(() => world.lines.some((line) => line.message === "rolling back"), polled);
        world.fake?.setBehaviour("web", "run");
        const { deployments } = await polled;
        const message = deployments?.[0]?.message ?? "";
        assert.match(
          message,
          /keeps restarting: it exited with 1 after \d+(?:\.\d)? s, 3 times by now; /,
        );
        if (engine === "real") {
          assert.match(message, /\nthe cause$/);
          const { out } = await commandTo(world, 0, ["status", world.stack]);
          assert.match(
            out,
            /\nfailed .* it exited with 1 after .*; last output: the cause; release 2 failed/,
          );
        }
        assert.equal(await label(world, "web", "v"), "1");
      }));

    it("a service that needs two starts is deployed", () =>
      inSlowWorld(5, async (world) => {
        await commit(world, web("1", "exec sleep 100000"));
        await pollTo(world, "succeeded");
        const second = "test -e /second && exec sleep 100000; touch /second; exit 1";
        await commit(world, web("2", second));
        world.fake?.setBehaviour("web", { exit: 1, afterMs: 0 });
        const polled = pollTo(world, "succeeded");
        await until(() => starts(world) > 1, polled);
        world.fake?.setBehaviour("web", "run");
        await polled;
        assert.equal(await label(world, "web", "v"), "2");
      }));
  });
}

/** How often the fake engine started containers; enough on the real one, which needs no change. */
function starts(world: World): number {
  if (world.fake === undefined) return Infinity;
  return world.fake.requests.filter(({ method, path }) =>
    method === "POST" && path.endsWith("/start")
  ).length;
}

/** Waits for something, but not beyond the end of `work`. */
async function until(isSo: () => boolean, work: Promise<unknown>): Promise<void> {
  let ended = false;
  work.then(() => ended = true, () => ended = true);
  while (!isSo() && !ended) await new Promise((resolve) => setTimeout(resolve, 5));
}
