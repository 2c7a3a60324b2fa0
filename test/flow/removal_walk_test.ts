import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fractionsFrom } from "../fakes/random.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { RemovalWalk } from "./removal_walk.ts";
import { createWorld } from "./world.ts";

/** `WALK_SEED` and `WALK_STEPS` make other walks, and longer ones. */
const GIVEN = process.env["WALK_SEED"];
const SEED = Number(GIVEN ?? "20261129");
const STEPS = Number(process.env["WALK_STEPS"] ?? "40");

describe("a random walk of directories that come, go, move, and are renamed, merged and destroyed", () => {
  it(`deletes in ${STEPS} steps from seed ${SEED} nothing that is wanted, or was renamed`, async () => {
    const directory = await mkdtemp(join(tmpdir(), "stackwright-removals-"));
    const world = await createWorld({ engine: "fake" });
    try {
      const repositories = [world.repository, await createRepository(directory)];
      const walk = new RemovalWalk(world, repositories, fractionsFrom(SEED));
      for (let count = 0; count < STEPS; count++) {
        assert.deepEqual(await walk.step(), [], `seed ${SEED}:\n${walk.said.join("\n")}`);
      }
      // There are walks in which nothing has to go.
      assert.ok(walk.gone > 0 || GIVEN !== undefined, walk.said.join("\n"));
    } finally {
      await world.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
