import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { startByHand } from "./by_hand.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, readInside, states, writeInside } from "./steps.ts";
import { engines, type World } from "./world.ts";

const WEB = {
  environment: { MADE: "by hand" },
  networks: { inner: { aliases: ["shop"] } },
  volumes: ["store:/store", "/anonymous", "./data:/data"],
};
const model = (web: Part) =>
  composeFile({ other: service({ network_mode: "service:web" }), web }, {
    volumes: { store: {} },
    networks: { inner: {} },
  });

/** What a person would miss of a container. */
async function looks(world: World, name: string): Promise<unknown> {
  const [found] = (await world.containers()).filter((each) => each.service === name);
  assert.ok(found);
  const never = new AbortController().signal;
  const recipe = await world.engine.containerRecipe(found.id, never);
  const mounts = (await world.engine.inspectContainer(found.id, never))?.mounts ?? [];
  const body = recipe?.body ?? {};
  return {
    name: found.name,
    image: body["Image"],
    environment: body["Env"],
    command: body["Cmd"],
    labels: found.labels,
    networks: body["NetworkingConfig"],
    mounts: mounts.map((each) => `${each.name || each.source} ${each.destination}`).sort(),
  };
}

for (const engine of await engines()) {
  describe(`containers that nobody manages, on the ${engine} engine`, () => {
    it("come back as they were when the first release of theirs fails, and can be tried again", () =>
      inWorld(engine, async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "swt-adoption-"));
        try {
          await mkdir(join(directory, "data"));
          await startByHand(world, model(service(WEB)), { directory });
          const files = ["/store/file", "/anonymous/file", "/data/file"];
          const mine = world.kind === "real" ? files : files.slice(2);
          for (const path of mine) await writeInside(world, "web", path, path);
          const before = [await looks(world, "web")];

          await commit(world, { "compose.yaml": model(badService(world, WEB)) });
          const failed = JSON.stringify(await pollTo(world, "failed"));
          assert.match(failed, /containers that ran before were put back: /);
          assert.deepEqual([await looks(world, "web")], before);
          assert.deepEqual(await states(world), { "other-1": "running", "web-1": "running" });
          for (const path of mine) assert.equal(await readInside(world, "web", path), path);

          await writeInside(world, "web", "/data/file", "later");
          await commit(world, { "compose.yaml": model(service(WEB)) });
          await pollTo(world, "succeeded");
          assert.equal(await readInside(world, "web", "/data/file"), "later");
        } finally {
          await rm(directory, { recursive: true });
        }
      }));
  });
}
