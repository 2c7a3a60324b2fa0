import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { withMeanwhile } from "./meanwhile.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { commit, ids, pollTo } from "./steps.ts";

const shop = (number: string) => composeFile({ web: service({ labels: { number } }) });

/** The question of a removal to its source right before it begins; the poll asks first. */
function secondQuestion(): (argv: readonly string[]) => boolean {
  let asked = 0;
  return (argv) => argv.includes("ls-remote") && ++asked === 2;
}

describe("a stack that others change between the decision and the change", () => {
  it("is not removed, as nothing names it any more, after another process rolled it back", () =>
    withMeanwhile(async (world, before) => {
      const autoDiscovery = { enabled: true, delete: true, remove_volumes: true };
      const configuration = configFile({ working_dir: "apps", auto_discovery: autoDiscovery });
      await world.repository.commit({ ".stackwright.yaml": configuration, "apps/readme": "" });
      for (const number of ["1", "2"]) {
        await world.repository.commit({ [`apps/${world.stack}/compose.yaml`]: shop(number) });
        await pollTo(world, "succeeded");
      }
      const refused = await world.repository.remove([`apps/${world.stack}`]);
      const rollBack = () =>
        withOther(world, (other) => {
          other.succeed(beginRollback(world, other, 1, refused), {}, "back");
          return Promise.resolve();
        });
      before(secondQuestion(), rollBack);
      const there = await ids(world);
      await world.poll();
      assert.deepEqual(await ids(world), there);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.doesNotMatch(out, /failed/);
    }));

  it("is not removed by destroy: true, and nothing failed, after a person held it", () =>
    withMeanwhile(async (world, before) => {
      await commit(world, { "compose.yaml": shop("1") });
      await pollTo(world, "succeeded");
      await commit(world, {}, { destroy: true });
      before(secondQuestion(), () => commandTo(world, 0, ["hold", world.stack]));
      const there = await ids(world);
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world), there);
    }));
});
