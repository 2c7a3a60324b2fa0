import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { leftObjectsSuite } from "./left_objects_suite.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

for (const engine of await engines()) {
  describe(`a network that is left of a stack, on the ${engine} engine`, () => {
    it("is joined by no other repository that takes the name after the ledger was lost", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        const outsider = `${world.stack}-outsider`;
        const joins = ["--network", `${world.stack}_default`, IMAGE, "sleep", "100000"];
        await docker(world, "run", "--detach", "--init", "--name", outsider, ...joins);
        try {
          for (const { name } of await world.containers()) {
            if (name !== outsider) await docker(world, "rm", "--force", name);
          }
          const thief = await createRepository(join(dirname(world.dataDir), "thief"));
          await thief.commit({
            ".stackwright.yaml": `name: ${world.stack}\n`,
            "compose.yaml": composeFile({ spy: service() }),
          });
          const lost = { env: { DATA_DIR: await empty(world, "thiefs") } };
          const { out, err } = await commandTo(world, 1, ["apply", thief.url], lost);
          const has = /already has a network of \S+ \(network \S+_default\)/;
          assert.match(out + err, has);
          assert.deepEqual(await ids(world), {});
          const own = { env: { DATA_DIR: await empty(world, "own") } };
          await commandTo(world, 0, ["apply", world.repository.url], own);
          assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
        } finally {
          await docker(world, "rm", "--force", outsider);
        }
      }));
  });
}

for (const engine of (await engines()).filter((each) => each === "real")) {
  describe(`a container with the longest name that the ${engine} engine takes`, () => {
    it("is seen, and ends with its service, or with its stack", () =>
      inWorld(engine, async (world) => {
        const alone = service({ network_mode: "none" });
        const compose = (...names: readonly string[]) => ({
          "compose.yaml": composeFile(Object.fromEntries(names.map((each) => [each, alone]))),
        });
        const running = async () => {
          const label = `label=com.docker.compose.project=${world.stack}`;
          const listed = await docker(world, "ps", "--no-trunc", "-q", "--filter", label);
          return listed.trim().split("\n").filter((each) => each !== "");
        };
        const rename = async (name: string) => {
          const { [name]: id = assert.fail(name) } = await ids(world);
          await docker(world, "rename", id, `${world.stack}-`.padEnd(4096, "a"));
          return id;
        };
        await commit(world, compose("web", "old"));
        await pollTo(world, "succeeded");
        const old = await rename("old-1");
        await commit(world, compose("web"));
        await pollTo(world, "succeeded");
        const [web = assert.fail("web"), ...others] = await running();
        assert.deepEqual([web === old, others], [false, []]);
        assert.equal(await rename("web-1"), web);
        await commit(world, compose("web"), { destroy: true });
        await pollTo(world, "succeeded");
        assert.deepEqual(await running(), []);
      }));
  });
}

leftObjectsSuite("fake");

async function empty(world: World, name: string): Promise<string> {
  const path = join(dirname(world.dataDir), name);
  await mkdir(path);
  return path;
}
