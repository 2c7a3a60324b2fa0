import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { ids, inWorld, pollTo } from "./steps.ts";
import { decidingEngine, type World } from "./world.ts";

const never = new AbortController().signal;

/** Two services that say much of what compose compares. */
const MODEL = composeFile({
  db: service({
    volumes: ["data:/data", "/anonymous"],
    healthcheck: { test: ["CMD", "true"], interval: "100ms" },
    labels: { "who": "<author>", "1": "one" },
    networks: { default: { aliases: ["store"] }, back: null },
  }),
  web: service({
    environment: { PRICE: "5$$", "10": "b", "9": "a" },
    depends_on: { db: { condition: "service_healthy" } },
    ports: ["127.0.0.1::80"],
    cpus: 0.5,
    restart: "unless-stopped",
    ulimits: { nofile: { soft: 100, hard: 200 } },
    scale: 2,
  }),
}, { volumes: { data: { labels: { a: "b" } } }, networks: { back: { internal: true } } });

/** Runs compose as somebody in a clone of the repository does; returns what it printed. */
async function byHand(world: World, directory: string, ...args: string[]): Promise<string> {
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const place = ["-p", world.stack, "--project-directory", directory, "-f", "-"];
  try {
    const result = await compose.run(world.proxy.host, [...place, ...args], MODEL);
    assert.equal(result.code, 0, result.output);
    return result.output;
  } finally {
    await compose.close();
  }
}

for (const engine of await decidingEngine()) {
  describe(`docker compose by hand on a stack of ours on the ${engine} engine`, () => {
    it("sees its containers, has nothing to change, and takes it away", () =>
      inWorld(engine, async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "swt-clone-"));
        try {
          await world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack }),
            "compose.yaml": MODEL,
          });
          await pollTo(world, "succeeded");
          const made = Object.values(await ids(world));
          assert.equal(made.length, 3);

          const seen = await byHand(world, directory, "ps", "--quiet", "--no-trunc");
          assert.deepEqual(seen.trim().split("\n").sort(), [...made].sort());

          world.proxy.reset();
          await byHand(world, directory, "up", "--detach", "--pull", "never");
          const changes = world.proxy.calls.filter((call) => call.mutating)
            .map(({ method, path }) => `${method} ${path}`);
          assert.deepEqual(changes, []);
          assert.deepEqual(Object.values(await ids(world)), made);

          await byHand(world, directory, "down", "--timeout", "0");
          assert.deepEqual(await ids(world), {});
          const labels = { "com.docker.compose.project": world.stack };
          assert.deepEqual(await world.engine.listNetworks(labels, never), []);
          assert.equal((await world.engine.listVolumes(labels, never)).length, 1);
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      }));
  });
}
