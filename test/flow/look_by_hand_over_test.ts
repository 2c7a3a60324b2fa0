import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Commands } from "../../src/system/mod.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, pollTo } from "./steps.ts";
import { createWorld, type World, worldCommands } from "./world.ts";

const NEW_OWNER = "git.example.com/them/shop";

const shop = (comment: string) => ({
  "compose.yaml": `# ${comment}\n${composeFile({ web: service() })}`,
});

/** A world in which work can be done before the next rendering. */
async function withHook(
  test: (world: World, before: (work: () => Promise<void>) => void) => Promise<void>,
): Promise<void> {
  let next: (() => Promise<void>) | undefined;
  const run: Commands["run"] = async (command, signal) => {
    if (command.argv.includes("config")) {
      const work = next;
      next = undefined;
      await work?.();
    }
    return await worldCommands.run(command, signal);
  };
  const world = await createWorld({ engine: "fake", commands: { ...worldCommands, run } });
  try {
    await test(world, (work) => next = work);
  } finally {
    await world.close();
  }
}

describe("a look that finds nothing to do, at a stack that is handed over meanwhile", () => {
  const adopt = (world: World) => async () => {
    await commandTo(world, 0, ["adopt", world.stack, "--source", NEW_OWNER]);
  };
  it("does not make the former owner's release the new owner's", () =>
    withHook(async (world, before) => {
      await commit(world, shop("one"));
      await pollTo(world, "succeeded");
      await commit(world, shop("two"));
      before(adopt(world));
      const told = JSON.stringify(await pollTo(world, "failed"));
      assert.match(told, /(?:already belongs|was handed over) to git\.example\.com\/them\/shop/);
      const history = (await commandTo(world, 0, ["history", world.stack])).out;
      assert.match(history, /1 .*local\//s);
    }));
});
