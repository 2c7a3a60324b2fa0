import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { renders, withMeanwhile } from "./meanwhile.ts";
import { commit, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const NEW_OWNER = "git.example.com/them/shop";

const shop = (comment: string) => ({
  "compose.yaml": `# ${comment}\n${composeFile({ web: service() })}`,
});

describe("a look that finds nothing to do, at a stack that is handed over meanwhile", () => {
  const adopt = (world: World) => async () => {
    await commandTo(world, 0, ["adopt", world.stack, "--source", NEW_OWNER]);
  };
  it("does not make the former owner's release the new owner's", () =>
    withMeanwhile(async (world, before) => {
      await commit(world, shop("one"));
      await pollTo(world, "succeeded");
      await commit(world, shop("two"));
      before(renders, adopt(world));
      const told = JSON.stringify(await pollTo(world, "failed"));
      assert.match(told, /(?:already belongs|was handed over) to git\.example\.com\/them\/shop/);
      const history = (await commandTo(world, 0, ["history", world.stack])).out;
      assert.match(history, /1 .*local\//s);
    }));
});
