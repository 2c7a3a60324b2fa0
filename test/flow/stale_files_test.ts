import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { stackDirectories, StackFiles } from "../../src/deploy/mod.ts";
import { stackKey } from "../../src/model/mod.ts";
import { systemFiles } from "../../src/system/mod.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, ids, inWorld, pollTo, readInside, writeInside } from "./steps.ts";
import type { World } from "./world.ts";

const compose = (scale: number, more: Readonly<Record<string, Part>> = {}) =>
  composeFile({
    ...more,
    other: service(),
    web: service({ scale, volumes: ["./data:/data", "./conf:/conf:ro"] }),
  });

const REPLACES = /; replaces what containers wrote to \.\/data\/a/;

describe("files of a stack that are not those of its release", () => {
  it("follow a commit while the service has no container, and are right when it has one", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": compose(1), "data/a": "1", "conf/a": "1" });
      await pollTo(world, "succeeded");
      await commit(world, { "compose.yaml": compose(0) });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      await commit(world, { "data/a": "2", "conf/a": "2" });
      const finished = await pollTo(world, "succeeded");
      assert.match(JSON.stringify(finished), /bring the files of its containers up to date/);
      assert.deepEqual(actions(finished), { other: "keep", web: "keep" });
      assert.deepEqual(await shown(world), ["2", "2"]);
      assert.deepEqual(await ids(world), before);
      await pollTo(world, "skipped");
      await commit(world, { "compose.yaml": compose(1) });
      await pollTo(world, "succeeded");
      assert.deepEqual(await shown(world), ["2", "2"]);
    }));

  it("are what a container had made of them when the release that replaced them fails", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": compose(1), "data/a": "1", "conf/a": "1" });
      await pollTo(world, "succeeded");
      await writeInside(world, "web", "/data/a", "written");
      world.fake?.setBehaviour("bad", { exit: 1 });
      const more = { bad: service() };
      await commit(world, { "compose.yaml": compose(1, more), "data/a": "2", "conf/a": "2" });
      await pollTo(world, "failed");
      assert.deepEqual(await shown(world), ["written", "1"]);
      await commit(world, { "compose.yaml": compose(1), "data/a": "3" });
      await pollTo(world, "succeeded");
      assert.deepEqual(await shown(world), ["3", "2"]);
    }));

  it("are the containers' where these made or changed them, until a commit brings another one", () =>
    inWorld("fake", async (world) => {
      const read = () => readInside(world, "web", "/data/a");
      const only = composeFile({ other: service() });
      await commit(world, { "compose.yaml": compose(1), "data/keep": "" });
      await pollTo(world, "succeeded");
      await writeInside(world, "web", "/data/a", "rows");
      world.fake?.setBehaviour("bad", { exit: 1 });
      const seeded = { "compose.yaml": compose(1, { bad: service() }), "data/a": "seed" };
      await commit(world, seeded);
      const failed = await pollTo(world, "failed");
      assert.match(JSON.stringify(failed), REPLACES);
      assert.equal(await read(), "rows");
      await commit(world, { "compose.yaml": compose(1) });
      assert.match(JSON.stringify(await pollTo(world, "succeeded")), REPLACES);
      assert.equal(await read(), "seed");
      await writeInside(world, "web", "/data/a", "more");
      for (const text of [only, compose(1)]) {
        await commit(world, { "compose.yaml": text });
        assert.doesNotMatch(JSON.stringify(await pollTo(world, "succeeded")), REPLACES);
      }
      assert.equal(await read(), "more");
      await world.repository.remove(["data/a"]);
      assert.doesNotMatch(JSON.stringify(await pollTo(world, "succeeded")), REPLACES);
      assert.equal(await read(), "more");
    }));

  it("are put right when a process that was killed left them, though nothing else is amiss", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": compose(1), "data/a": "1", "conf/a": "1" });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      for (const paused of [false, true]) {
        await killedOnTheWay(world);
        assert.deepEqual(await shown(world), ["half", "half"]);
        if (paused) await commit(world, {}, { pause: true });
        const finished = await pollTo(world, paused ? "skipped" : "succeeded");
        assert.match(JSON.stringify(finished), /bring the files of its containers up to date/);
        assert.deepEqual(await shown(world), ["1", "1"]);
        assert.deepEqual(await ids(world), before);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }
    }));
});

/** What a process does to the files before it is killed: it never gets to the containers. */
async function killedOnTheWay(world: World): Promise<void> {
  const tree = join(world.dataDir, "another-tree");
  for (const path of ["data/a", "conf/a"]) {
    await systemFiles.makeDirectory(join(tree, path, ".."));
    await systemFiles.write(join(tree, path), "half");
  }
  const files = new StackFiles(systemFiles, directories(world));
  const live = { files: { "data/a": "file:half" }, directories: [] };
  await files.switchTo(tree, { live, services: [] }, { files: {}, directories: [] });
}

async function shown(world: World): Promise<string[]> {
  const { current, live } = directories(world);
  const places = [join(live, "data/a"), join(current, "conf/a")];
  return await Promise.all(places.map((place) => readFile(place, "utf8")));
}

function directories(world: World) {
  return stackDirectories(world.dataDir, stackKey("", world.stack));
}
