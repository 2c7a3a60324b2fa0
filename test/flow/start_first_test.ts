import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo, reasons, states } from "./steps.ts";
import { createWorld, engines, type World } from "./world.ts";

const CHECK = { test: ["CMD", "true"], interval: "1s", retries: 1 };
const FIRST = { update_config: { order: "start-first" } };
const web = (v: string, more: Part = {}) =>
  service({ labels: { v }, healthcheck: CHECK, deploy: FIRST, ...more });
const files = (part: Part, others: Readonly<Record<string, Part>> = {}) => ({
  "compose.yaml": composeFile({ web: part, ...others }),
});

/** What was called, without names and ids that differ from run to run. */
function calls(world: World): string[] {
  return world.proxy.calls.filter((each) => each.mutating).map(({ method, path }) =>
    `${method} ${path.split("?")[0]?.replace(/\/[0-9a-f]{64}|\/swt-[^/]*/, "")}`
  );
}

for (const engine of await engines()) {
  describe(`a service that is replaced start-first on the ${engine} engine`, () => {
    it("gets a new container that works before anything happens to the old one", () =>
      inWorld(engine, async (world) => {
        await commit(world, files(web("1")));
        await pollTo(world, "succeeded");
        const first = await ids(world);
        world.proxy.reset();
        await commit(world, files(web("2")));
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /replaced start-first/);
        assert.deepEqual(calls(world), [
          "POST /containers/create",
          "POST /containers/start",
          "POST /networks/disconnect",
          "POST /networks/connect",
          "POST /containers/rename",
          "POST /networks/disconnect",
          "POST /networks/connect",
          "POST /containers/stop",
          "DELETE /containers",
          "POST /containers/rename",
        ]);
        const second = await ids(world);
        assert.deepEqual(Object.keys(second), ["web-1"]);
        assert.notEqual(second["web-1"], first["web-1"]);
        await pollTo(world, "skipped");
      }));

    it("keeps the old container, untouched, when the new one never works", () =>
      inWorld(engine, async (world) => {
        await commit(world, files(web("1")));
        await pollTo(world, "succeeded");
        const first = await ids(world);
        const old = (await world.engine.inspectContainer(first["web-1"] ?? "", never))?.startedAt;
        await commit(world, files(web("2", { command: ["false"], restart: "always" })));
        world.fake?.setBehaviour("web", { exit: 1 });
        const finished = await pollTo(world, "failed");
        assert.match(finished.message ?? "", /no container had changed/);
        assert.deepEqual(await ids(world), first);
        assert.deepEqual(await states(world), { "web-1": "running" });
        const now = (await world.engine.inspectContainer(first["web-1"] ?? "", never))?.startedAt;
        assert.deepEqual(now, old);
      }));
  });
}

describe("a start-first update, looked at after every change", () => {
  it("has a working container that is found by the name of its service, in every network", async () => {
    const seen: string[] = [];
    const look = () => {
      const serving = (world.fake?.containers() ?? []).filter((each) =>
        each.service === "web" && each.state === "running" && each.health === "healthy" &&
        each.aliases.filter((alias) => alias === "web").length === 2
      );
      seen.push(serving.map(({ labels }) => labels["v"]).sort().join(" and "));
    };
    let isWatching = false;
    const world: World = await createWorld({
      engine: "fake",
      onMutation: () => {
        if (isWatching) look();
      },
    });
    try {
      const both = (v: string) => ({
        "compose.yaml": composeFile(
          { web: web(v, { networks: { back: null, front: null } }) },
          { networks: { back: {}, front: {} } },
        ),
      });
      await commit(world, both("1"));
      await pollTo(world, "succeeded");
      isWatching = true;
      await commit(world, both("2"));
      await pollTo(world, "succeeded");
      const order = seen.filter((each, index) => each !== seen[index - 1]);
      assert.deepEqual(order, ["1", "1 and 2", "2"], seen.join(", "));
    } finally {
      await world.close();
    }
  });
});

const never = new AbortController().signal;
