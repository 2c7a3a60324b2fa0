import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Commands, systemCommands } from "../../src/system/mod.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { commit, label, pollTo } from "./steps.ts";
import { createWorld } from "./world.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
});

describe("a rollback beside the service", () => {
  it("keeps its pin where it comes during a look that ends an earlier one", async () => {
    let atRender: (() => Promise<void>) | undefined;
    const commands: Commands = {
      ...systemCommands,
      async run(command, signal) {
        const act = command.argv.includes("config") ? atRender : undefined;
        if (act !== undefined) atRender = undefined;
        await act?.();
        return await systemCommands.run(command, signal);
      },
    };
    const world = await createWorld({ engine: "fake", commands });
    try {
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      await commandTo(world, 0, ["rollback", world.stack, "1"]);
      const bad = await commit(world, shop("3"));
      atRender = () =>
        withOther(world, (other) => {
          other.succeed(beginRollback(world, other, 2, bad), {}, "release 2 again");
          return Promise.resolve();
        });
      const { deployments } = await pollTo(world, "skipped");
      assert.match(deployments?.[0]?.reason ?? "", /^paused: rolled back to release 2/);
      assert.notEqual(await label(world, "web", "number"), "3");
    } finally {
      await world.close();
    }
  });
});
