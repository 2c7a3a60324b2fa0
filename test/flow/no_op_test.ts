import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSample } from "../fakes/sample.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo } from "./steps.ts";
import { engines, type World } from "./world.ts";

const COMPOSE = composeFile({
  web: service({
    volumes: ["./page.txt:/page.txt:ro", "./data:/data"],
    configs: [{ source: "main", target: "/main.conf" }],
    restart: "always",
  }),
  worker: service({ deploy: { replicas: 2 }, environment: { A: "$A" } }),
  migrate: service({ command: ["true"] }),
  off: service({ scale: 0 }),
}, { configs: { main: { file: "./main.conf" } } });

/**
 * One of a thousand looks: mostly a poll, at times after a restart of the service or after a commit
 * that does not concern the stack.
 */
async function look(world: World, pass: number): Promise<void> {
  if (pass % 100 === 50) await world.restart();
  if (pass % 20 === 10) await world.repository.commit({ "unrelated.txt": `${pass}` });
  const finished = await pollTo(world, "skipped");
  assert.equal(finished.deployments?.[0]?.reason, "no_changes", JSON.stringify(finished));
}

for (const engine of await engines()) {
  // ./scripts/test has ten minutes; the gate looks as often as the test says.
  // Compose and the engine are not even asked to change anything, so that the real one shows no more.
  const passes = engine === "fake" ? (isSample ? 60 : 1000) : 100;
  describe(`a converged host on the ${engine} engine`, () => {
    it(`is left alone by ${passes} more looks, by polls, restarts and unrelated commits`, () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("migrate", { exit: 0, afterMs: 0 });
        await commit(world, {
          "compose.yaml": COMPOSE,
          ".env": "A=1\n",
          "page.txt": "page",
          "main.conf": "main",
          "data/seed.txt": "seed",
        });
        await pollTo(world, "succeeded");
        await pollTo(world, "skipped");
        const made = await ids(world);
        assert.equal(Object.keys(made).length, 4);
        world.proxy.reset();
        for (let pass = 1; pass <= passes; pass++) await look(world, pass);
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), made);
      }));
  });
}
