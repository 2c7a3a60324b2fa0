import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { startSilentRegistry } from "../fakes/silent_registry.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { composeFile } from "./compose_text.ts";
import { commit, docker, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, engines } from "./world.ts";

const real = await findRealEngine();
if (real.unavailable === undefined) await engines();

describe("a registry that begins to send layers and falls silent", {
  skip: real.unavailable ?? false,
}, () => {
  it("gives the engine's places for downloads back to other repositories, and says so", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-silent-"));
    const registry = await startSilentRegistry();
    // Two minutes are eight seconds.
    const world = await createWorld({ engine: "real", speed: 15 });
    const image = (name: string) => `${registry.host}/${world.stack}-${name}`;
    const web = (name: string) =>
      composeFile({ web: { image: image(name), stop_grace_period: "0s" } });
    try {
      const other = await createRepository(directory);
      const good = `${world.stack}-good`;
      await other.commit({ "compose.yaml": web("good"), ".stackwright.yaml": `name: ${good}\n` });
      // Its author gives it a day.
      await commit(world, { "compose.yaml": web("silent") }, { timeout: "24h" });
      const evil = world.poll();
      await until(() => registry.silent() === 3);
      await pollTo(world, "succeeded", { url: other.url });
      assert.equal((await world.containers(good))[0]?.state, "running");
      const failed = JSON.stringify((await evil).run);
      assert.match(
        failed,
        /pulling web of .* was ended: for 2 minutes nothing came of [0-9a-f]{12}/,
      );
      assert.match(failed, /Nothing that runs was touched/);
    } finally {
      await world.close();
      await docker(world, "image", "rm", "--force", image("good"));
      await registry.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
