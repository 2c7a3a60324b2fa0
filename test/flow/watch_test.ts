import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
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
    }));
});
