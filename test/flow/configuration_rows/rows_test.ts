import { after, before, describe, it } from "node:test";
import { sampleOf } from "../../fakes/sample.ts";
import { createWorld, type World } from "../world.ts";
import { carryOut } from "./row.ts";
import { ROWS } from "./rows.ts";

describe("every row of the deployment configuration", () => {
  let world: World;
  before(async () => {
    world = await createWorld({ engine: "fake" });
  });
  after(() => world.close());

  for (const [index, row] of sampleOf([...ROWS.entries()], 8)) {
    it(`${row.rule}: ${row.title}`, () => carryOut(world, row, index + 1));
  }
});
