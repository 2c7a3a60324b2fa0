import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { buildingEngines } from "./building_engines.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { IMAGE, type World } from "./world.ts";

/**
 * A stack whose one build counts what it finds in a cache, and leaves something there. A step of the same
 * text would not run again: the engine does not tell steps apart by their caches.
 */
function shop(world: World, number: number, args: Part = {}) {
  const build = { context: "./app", args };
  const mount = `type=cache,id=${world.stack},target=/cache`;
  return {
    "app/Dockerfile": `FROM ${IMAGE}\nRUN --mount=${mount} ls /cache | wc -l > /seen.txt; ` +
      `touch /cache/$(cat /proc/sys/kernel/random/uuid); true ${world.stack} ${number}\n`,
    "compose.yaml": composeFile({ app: { ...service({ build }), image: undefined } }),
  };
}

const seen = async (world: World, stack = world.stack) =>
  Number(await docker(world, "exec", `${stack}-app-1`, "cat", "/seen.txt"));

for (const engine of await buildingEngines()) {
  describe(`a cache of builds on the ${engine} engine`, () => {
    it("has what earlier builds of its repository left, and is no reason to build again", () =>
      inWorld(engine, async (world) => {
        for (const number of [0, 1]) {
          await commit(world, shop(world, number));
          await pollTo(world, "succeeded");
          assert.equal(await seen(world), number);
        }
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("has nothing of another repository, whatever name that one gives its caches", () =>
      inWorld(engine, async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "swt-other-"));
        try {
          const name = `${world.stack}-other`;
          const other = await createRepository(directory);
          for (const [number, args] of [{}, { BUILDKIT_CACHE_MOUNT_NS: "mine" }].entries()) {
            await commit(world, shop(world, number, args));
            await pollTo(world, "succeeded");
            assert.equal(await seen(world), 0);
            const files = shop(world, number + 2, args);
            await other.commit({ ...files, ".stackwright.yaml": configFile({ name }) });
            await pollTo(world, "succeeded", { url: other.url });
            assert.equal(await seen(world, name), 0);
          }
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      }));

    it("is divided by a name that a build gives its caches", () =>
      inWorld(engine, async (world) => {
        const args = { BUILDKIT_CACHE_MOUNT_NS: "mine" };
        for (const [number, given] of [{}, args, args].entries()) {
          await commit(world, shop(world, number, given));
          await pollTo(world, "succeeded");
          assert.equal(await seen(world), [0, 0, 1][number]);
        }
      }));
  });
}
