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

leftObjectsSuite("fake");

async function empty(world: World, name: string): Promise<string> {
  const path = join(dirname(world.dataDir), name);
  await mkdir(path);
  return path;
}
