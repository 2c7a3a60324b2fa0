import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { describe, it } from "node:test";
import { composeFile, configFile, service } from "./compose_text.ts";
import {
  actions,
  commit,
  docker,
  ids,
  inWorld,
  pollTo,
  reasons,
  replaced,
  states,
} from "./steps.ts";
import { engines } from "./world.ts";

for (const engine of await engines()) {
  describe(`drift on the ${engine} engine`, () => {
    it("a missing, a stopped and a container too few are repaired at the next poll, by name", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({
            always: service({ restart: "always" }),
            gone: service(),
            kept: service(),
            three: service({ deploy: { replicas: 3 } }),
            unless: service({ restart: "unless-stopped" }),
          }),
        });
        await pollTo(world, "succeeded");
        const first = await ids(world);
        assert.deepEqual(Object.keys(first), [
          "always-1",
          "gone-1",
          "kept-1",
          "three-1",
          "three-2",
          "three-3",
          "unless-1",
        ]);
        await docker(world, "stop", `${world.stack}-always-1`, `${world.stack}-unless-1`);
        await docker(world, "rm", "--force", `${world.stack}-gone-1`, `${world.stack}-three-2`);

        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), {
          always: "start",
          gone: "create",
          kept: "keep",
          three: "scale",
          unless: "start",
        });
        assert.match(reasons(finished, "always"), /container \S+-always-1 is exited/);
        assert.match(reasons(finished, "gone"), /its container is missing/);
        assert.match(reasons(finished, "three"), /2 of 3 containers exist/);
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["gone-1"]);
        // Compose gives the new one the next number, not the free one.
        const untouched = Object.keys(first).filter((name) =>
          !["gone-1", "three-2"].includes(name)
        );
        assert.deepEqual(untouched.filter((name) => second[name] === first[name]), untouched);
        assert.equal(Object.keys(second).filter((name) => /^three-/.test(name)).length, 3);
        assert.equal(Object.keys(second).length, 7);
        assert.deepEqual(new Set(Object.values(await states(world))), new Set(["running"]));

        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("a killed container without a restart policy is started again, one that ended well is not", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("batch", { exit: 0 });
        await commit(world, {
          "compose.yaml": composeFile({
            batch: service({ command: ["true"] }),
            failing: service({ restart: "on-failure:1" }),
            kept: service(),
            plain: service(),
          }),
        });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const [failing, plain] = [`${world.stack}-failing-1`, `${world.stack}-plain-1`];
        // The engine does not restart what a person killed, and nothing after the host went down.
        await docker(world, "kill", failing, plain);
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), {
          batch: "keep",
          failing: "start",
          kept: "keep",
          plain: "start",
        });
        assert.match(reasons(finished, "plain"), /is exited/);
        assert.deepEqual(await ids(world), before);
        assert.equal((await states(world))["plain-1"], "running");
        await pollTo(world, "skipped");
      }));

    it("a paused, a renamed and a disconnected container are put right", () =>
      inWorld(engine, async (world) => {
        const always = { restart: "always" };
        await commit(world, {
          "compose.yaml": composeFile({
            app: service({ ...always, networks: ["inner", "outer"], volumes: ["/anonymous"] }),
            chosen: service({ ...always, container_name: `${world.stack}-mine` }),
            other: service(always),
            paused: service(always),
            renamed: service(always),
            sharer: service({ ...always, network_mode: "service:paused" }),
          }, { networks: { inner: {}, outer: {} } }),
        });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const container = (name: string) => `${world.stack}-${name}`;
        await docker(world, "pause", container("paused-1"));
        await docker(world, "rename", container("renamed-1"), container("by-hand"));
        await docker(world, "rename", container("mine"), container("chosen-1"));
        await docker(world, "network", "disconnect", `${world.stack}_outer`, container("app-1"));

        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), {
          app: "recreate",
          chosen: "start",
          other: "keep",
          paused: "start",
          renamed: "start",
          sharer: "keep",
        });
        assert.match(reasons(finished, "app"), /is not in network \S+_outer any more/);
        assert.match(reasons(finished, "chosen"), /chosen-1 was renamed from \S+-mine/);
        assert.match(reasons(finished, "paused"), /paused-1 is paused/);
        assert.match(reasons(finished, "renamed"), /by-hand was renamed from \S+-renamed-1/);
        assert.deepEqual(replaced(before, await ids(world)), ["app-1"]);
        assert.deepEqual(new Set(Object.values(await states(world))), new Set(["running"]));
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("another number of replicas keeps the containers that stay", () =>
      inWorld(engine, async (world) => {
        const scaled = (replicas: number) => ({
          "compose.yaml": composeFile({ web: service({ deploy: { replicas } }), other: service() }),
        });
        await commit(world, scaled(2));
        await pollTo(world, "succeeded");
        const two = await ids(world);
        await commit(world, scaled(3));
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          other: "keep",
          web: "scale",
        });
        const three = await ids(world);
        assert.deepEqual(Object.keys(three), ["other-1", "web-1", "web-2", "web-3"]);
        assert.deepEqual(replaced(two, three), []);
        await commit(world, scaled(1));
        await pollTo(world, "succeeded");
        const one = await ids(world);
        assert.deepEqual(Object.keys(one), ["other-1", "web-1"]);
        await commit(world, scaled(0));
        await pollTo(world, "succeeded");
        assert.deepEqual(Object.keys(await ids(world)), ["other-1"]);
      }));

    it("scale 0 and one-shots that ended well are no drift", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("migrate", { exit: 0 });
        world.fake?.setBehaviour("retried", { exit: 0 });
        await commit(world, {
          "compose.yaml": composeFile({
            migrate: service({ command: ["true"] }),
            none: service({ scale: 0 }),
            retried: service({ command: ["true"], restart: "on-failure:3" }),
            web: service({
              depends_on: { migrate: { condition: "service_completed_successfully" } },
            }),
          }),
        });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        assert.deepEqual(await states(world), {
          "migrate-1": "exited",
          "retried-1": "exited",
          "web-1": "running",
        });
        world.proxy.reset();
        await pollTo(world, "skipped");
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);
      }));
  });
}

describe("drift while the repository is away", () => {
  it("is repaired from the last commit that is known; the run says that the repository is away", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service(), kept: service() }) });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      const path = world.repository.path;
      await commit(world, { "compose.yaml": composeFile({ other: service() }) });
      await rename(path, `${path}-away`);

      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      const finished = await pollTo(world, "failed");
      assert.match(finished.message ?? JSON.stringify(finished), /remote\.git/);
      assert.deepEqual(actions(finished), { web: "create", kept: "keep" });
      const after = await ids(world);
      assert.deepEqual(Object.keys(after), ["kept-1", "web-1"]);
      assert.equal(after["kept-1"], before["kept-1"]);

      world.proxy.reset();
      await pollTo(world, "failed");
      assert.equal(world.proxy.mutations(), 0);

      await rename(`${path}-away`, path);
      await pollTo(world, "succeeded");
      assert.deepEqual(Object.keys(await ids(world)), ["other-1"]);
    }));

  it("removes no discovered stack, and what was never seen stays undeployed", () =>
    inWorld("fake", async (world) => {
      const found = (name: string) => `${name}/compose.yaml`;
      const compose = composeFile({ web: service() });
      await world.repository.commit({
        ".stackwright.yaml": configFile({ name: world.stack, auto_discovery: true }),
        [found(`${world.stack}-a`)]: compose,
        [found(`${world.stack}-b`)]: compose,
      });
      await pollTo(world, "succeeded");
      const before = [await ids(world, `${world.stack}-a`), await ids(world, `${world.stack}-b`)];
      await rename(world.repository.path, `${world.repository.path}-away`);
      world.proxy.reset();
      await pollTo(world, "failed");
      await pollTo(world, "failed", { reference: "never-seen" });
      assert.equal(world.proxy.mutations(), 0);
      assert.deepEqual(
        [await ids(world, `${world.stack}-a`), await ids(world, `${world.stack}-b`)],
        before,
      );
    }));
});
