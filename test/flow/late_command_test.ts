import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { worldCommands } from "./world.ts";
import { command } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { renders } from "./meanwhile.ts";
import { commit, inWorld, label, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const shop = (number: string) => composeFile({ web: service({ labels: { number } }) });
const never = new AbortController().signal;

/** Applies what the repository has, beside the service, and has `happens` done when that renders first. */
async function applyWhile(world: World, happens: () => Promise<unknown>): Promise<string> {
  let isDone = false;
  const run: typeof worldCommands.run = async (asked, signal) => {
    if (renders(asked.argv) && !isDone) {
      isDone = true;
      await happens();
    }
    return await worldCommands.run(asked, signal);
  };
  const commands = { ...worldCommands, run };
  const { out, err } = await command(world, ["apply", world.repository.url], { commands });
  assert.ok(isDone);
  return out + err;
}

describe("apply, of a commit that is not the newest one any more when its turn comes", () => {
  it("leaves the stack to the newer one that the service has deployed meanwhile", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": shop("1") });
      await pollTo(world, "succeeded");
      await commit(world, { "compose.yaml": shop("2") });
      const told = await applyWhile(world, async () => {
        await commit(world, { "compose.yaml": shop("3") });
        await pollTo(world, "succeeded");
      });
      assert.match(told, /came meanwhile, by which it is decided/);
      assert.equal(await label(world, "web", "number"), "3");
      await pollTo(world, "skipped");
    }));

  it("does not make again what the newer one has renamed, nor has its data deleted by the next run", () =>
    inWorld("fake", async (world) => {
      const [x, y] = [`${world.stack}-x`, `${world.stack}-y`];
      const auto_discovery = { enabled: true, delete: true, remove_volumes: true };
      const files = (stack: string, number: string) => ({
        ".stackwright.yaml": configFile({ working_dir: "apps", auto_discovery }),
        [`apps/${stack}/compose.yaml`]: composeFile({
          web: service({ labels: { number }, volumes: ["data:/data"] }),
        }, { volumes: { data: {} } }),
      });
      await world.repository.commit(files(x, "1"));
      await pollTo(world, "succeeded");
      await world.repository.commit(files(x, "2"));
      await applyWhile(world, async () => {
        await world.repository.remove([`apps/${x}`]);
        await world.repository.commit(files(y, "3"));
        await pollTo(world, "succeeded");
        assert.equal((await world.containers(x)).length, 0);
      });
      assert.equal((await world.containers(x)).length, 0);
      await world.poll();
      const volumes = (await world.engine.listVolumes({}, never)).map(({ name }) => name);
      assert.ok(volumes.includes(`${x}_data`), volumes.join());
    }));
});
