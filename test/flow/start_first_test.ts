import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { command } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo, reasons, states } from "./steps.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

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

describe("rules for updates by which nobody else would have a turn", () => {
  it("are refused before anything is made", () =>
    inWorld("fake", async (world) => {
      const update_config = { parallelism: 1, monitor: "2m" };
      await commit(world, files(service({ deploy: { replicas: 1000, update_config } })));
      const finished = await pollTo(world, "failed");
      assert.match(
        finished.message ?? "",
        /web: to replace 1000 lots by deploy.update_config takes/,
      );
      assert.equal(world.proxy.mutations(), 0);
    }));
});

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
          "POST /containers/rename",
          "POST /networks/disconnect",
          "POST /networks/connect",
          "POST /containers/stop",
          "DELETE /containers",
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

    it("is replaced without being hidden in a network whose range the engine chose", () =>
      inWorld(engine, async (world) => {
        await commit(world, files(service({ labels: { v: "0" }, healthcheck: CHECK })));
        await pollTo(world, "succeeded");
        await commit(world, files(web("1")));
        world.proxy.reset();
        await pollTo(world, "succeeded");
        // The newest engines give such a container its address again.
        if (engine === "fake") {
          assert.deepEqual(calls(world), [
            "POST /containers/create",
            "POST /containers/start",
            "POST /containers/rename",
            "POST /containers/rename",
            "POST /containers/stop",
            "DELETE /containers",
          ]);
        }
        assert.deepEqual(await states(world), { "web-1": "running" });
        await pollTo(world, "skipped");
      }));
  });
}

describe("start-first where it is impossible", () => {
  it("is said by the plan and by the run with the key that forbids it, and stop-first is done", () =>
    inWorld("fake", async (world) => {
      const held = (v: string, more: Part = {}) =>
        files(web(v, { ports: ["127.0.0.1:8080:80"], ...more }));
      await commit(world, held("1"));
      await pollTo(world, "succeeded");
      await commit(world, held("2"));
      const why =
        /replaced stop-first, although start-first is asked for: ports\.0 publishes port 8080/;
      const { url } = world.repository;
      for (const args of [["plan", url], ["plan", "--json", url]]) {
        assert.match((await command(world, args)).out, why);
      }
      assert.match(reasons(await pollTo(world, "succeeded"), "web"), why);
      assert.match((await command(world, ["explain", world.stack])).out, why);
      const first = await ids(world);

      world.proxy.reset();
      const label = "stackwright.update.require";
      await commit(world, held("3", { labels: { v: "3", [label]: "start-first" } }));
      const finished = await pollTo(world, "failed");
      assert.match(finished.message ?? "", /service web has the label .* impossible: ports\.0 /);
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(await ids(world), first);
    }));
});

describe("a release with a start-first update that fails elsewhere", () => {
  it("is put back start-first, and everything is as it was", () =>
    inWorld("fake", async (world) => {
      world.fake?.addImage(BROKEN, { where: "both", onStart: { exit: 3, afterMs: 0 } });
      const both = (v: string, image: string) =>
        files(web(v), { other: service({ labels: { v }, image }) });
      await commit(world, both("1", IMAGE));
      await pollTo(world, "succeeded");
      world.proxy.reset();
      await commit(world, both("2", BROKEN));
      await pollTo(world, "failed");
      const now = (await world.containers()).map((
        each,
      ) => [each.service, each.state, each.labels["v"]]);
      assert.deepEqual(now, [["other", "running", "1"], ["web", "running", "1"]]);
      assert.equal(calls(world).filter((each) => each.endsWith("/connect")).length, 4);
    }));
});

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
const BROKEN = "stackwright-test/broken:1";
