import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, label } from "./steps.ts";
import type { World } from "./world.ts";

const app = (text: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { "test.v": text } }) }),
});

/** Waits until the container that runs has the value. */
async function deployed(world: World, value: string): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    if (await label(world, "web", "test.v") === value) return;
    await setTimeout(50);
  }
  assert.fail(`${value} was never deployed`);
}

describe("a repository on this machine that is watched", () => {
  it("is deployed at the start and whenever it changed, without any interval", () =>
    inWorld("fake", async (world) => {
      await commit(world, app("1"));
      const entry = { url: world.repository.url, reference: "main", interval: 0 };
      await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
      await deployed(world, "1");
      await commit(world, app("2"));
      await deployed(world, "2");
      // A failure is tried again by no poll, and who asks hears so.
      const web = service({ labels: { "test.v": "3" } });
      world.fake?.setBehaviour("web", { exit: 3, afterMs: 0 });
      await commit(world, { "compose.yaml": composeFile({ web: { ...web, restart: "no" } }) });
      const env = { POLL_CONFIG: JSON.stringify([entry]) };
      const told = async (name: string) =>
        (await commandTo(world, 0, [name, world.stack], { env })).out;
      const left = /nothing tries it again by itself, only a push or a person does/;
      for (let looks = 0; looks < 600 && !left.test(await told("status")); looks++) {
        await setTimeout(50);
      }
      assert.match(await told("status"), left);
      assert.match(await told("explain"), /^failed, [^:]*: nothing tries it again by itself/m);
    }));
});
