import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { IMAGE, type World } from "./world.ts";

/** A project whose things doco-cd labelled with a repository; without one, a person's. */
function project(url?: string): string {
  const labels = url === undefined ? {} : { "cd.doco.source.url": url };
  return composeFile({ web: service({ labels, volumes: ["store:/store"] }) }, {
    volumes: { store: { labels } },
  });
}

async function volumes({ engine, stack }: World): Promise<number> {
  const label = { "com.docker.compose.project": stack };
  return (await engine.listVolumes(label, new AbortController().signal)).length;
}

const GONE = { destroy: { enabled: true } };

describe("destroy of a stack that Stackwright never deployed", () => {
  it("is done where doco-cd deployed it from this repository, with its volumes", () =>
    inWorld("fake", async (world) => {
      const model = project(world.repository.url);
      await startByHand(world, model);
      await commit(world, { "compose.yaml": model }, GONE);
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /destroy web; deletes volume \S+_store\n/);
      const [target] = (await pollTo(world, "succeeded")).deployments ?? [];
      assert.equal(target?.message, `destroyed; deleted volume ${world.stack}_store`);
      assert.deepEqual([await ids(world), await volumes(world)], [{}, 0]);
      assert.equal((await pollTo(world, "skipped")).deployments?.[0]?.reason, "nothing_to_destroy");
    }));

  it("goes on where it failed when the containers were gone", () =>
    inWorld("fake", async (world) => {
      const model = project(world.repository.url);
      await startByHand(world, model);
      await docker(world, "create", "--name", "user", "-v", `${world.stack}_store:/x`, IMAGE);
      await commit(world, { "compose.yaml": model }, GONE);
      assert.match(JSON.stringify(await pollTo(world, "failed")), /has volume \S+ in use/);
      assert.deepEqual([await ids(world), await volumes(world)], [{}, 1]);
      await docker(world, "rm", "user");
      const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
      assert.match(out, /destroy what is left; deletes volume \S+_store; its removal failed once /);
      await pollTo(world, "succeeded");
      assert.equal(await volumes(world), 0);
      assert.equal((await pollTo(world, "skipped")).deployments?.[0]?.reason, "nothing_to_destroy");
    }));

  for (const url of ["https://git.example.com/them/shop.git", undefined]) {
    it(`waits for a hand-over where ${url ?? "a person"} has it, as the error says`, () =>
      inWorld("fake", async (world) => {
        await startByHand(world, project(url));
        await commit(world, { "compose.yaml": project() }, GONE);
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.ok(failed.includes(`belongs to ${url ?? "nobody Stackwright knows"}`), failed);
        assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
        const [, way = ""] = /hand all over: stackwright (adopt [^"]*)/.exec(failed) ?? [];
        await commandTo(world, 0, way.split(" "));
        await pollTo(world, "succeeded");
        assert.deepEqual([await ids(world), await volumes(world)], [{}, 0]);
      }));
  }
});
