import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Commands } from "../../src/system/mod.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { buildingEngines } from "./building_engines.ts";
import { commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, docker, ids, pollTo, reasons } from "./steps.ts";
import { createWorld, IMAGE, type World, worldCommands } from "./world.ts";

const never = new AbortController().signal;
const BROKEN = "broken";

/** Programs whose builds are counted and fail on the fake engine while `isBroken`. */
function createBuilds(engine: "fake" | "real") {
  const builds = { count: 0, isBroken: false };
  const inner = engine === "fake" ? createFakeBuilder(worldCommands) : worldCommands;
  const commands: Commands = {
    start: (command) => inner.start(command),
    run: async (command, signal) => {
      const { argv } = command;
      const isBuild = argv[1] === "compose" && argv.includes("build") && !argv.includes("config");
      if (isBuild) builds.count++;
      return isBuild && builds.isBroken && engine === "fake"
        ? { code: 17, stdout: new Uint8Array(), stderr: "exit code: 7" }
        : await inner.run(command, signal);
    },
  };
  return { builds, commands };
}

/** A world, and what it builds. */
interface Building {
  readonly world: World;
  readonly builds: { count: number; isBroken: boolean };
  /** Commits what the images are built from, with these services beside `web`, which is built. */
  change(page: string, others: (image: string) => Readonly<Record<string, Part>>): Promise<void>;
}

async function building(engine: "fake" | "real", test: (all: Building) => Promise<void>) {
  const { builds, commands } = createBuilds(engine);
  const world = await createWorld({ engine, commands, env: { RELEASE_IMAGE_RETENTION: "2" } });
  const image = `${world.stack}-app:1`;
  const dockerfile = [
    `FROM ${IMAGE}`,
    "COPY page.txt /page.txt",
    `RUN ["/bin/sh", "-c", "! grep -q ${BROKEN} /page.txt"]`,
  ].join("\n");
  try {
    await test({
      ...{ world, builds },
      change: async (page, others) => {
        builds.isBroken = page === BROKEN;
        const web = service({ image, build: { context: "./app", tags: [`${image}-tag`] } });
        await commit(world, {
          "app/Dockerfile": dockerfile,
          "app/page.txt": page,
          "compose.yaml": composeFile({ web, ...others(image) }),
        }, { build: { quiet: true } });
      },
    });
  } finally {
    for (const name of [image, `${image}-tag`]) {
      await world.engine.removeImage(name, never).catch(() => {});
    }
    await world.close();
  }
}

/** What the containers of services run. */
async function runs(world: World): Promise<Record<string, string>> {
  return Object.fromEntries(
    (await world.containers()).map((each) => [each.service, each.imageId]),
  );
}

for (const engine of ["fake" as const, ...await buildingEngines()]) {
  describe(`web and worker of one image that web builds, on the ${engine} engine`, () => {
    const worker = (more: Part = {}) => (image: string) => ({
      worker: service({ image, depends_on: ["web"], pull_policy: "never", ...more }),
    });

    it("run what was built for both, first, when it changes, and after a rollback", () =>
      building(engine, async ({ world, builds, change }) => {
        await change("one", worker());
        await pollTo(world, "succeeded");
        const first = await runs(world);
        assert.equal(first["worker"], first["web"]);
        assert.deepEqual([world.proxy.pulls(), builds.count], [0, 1]);
        await pollTo(world, "skipped");

        await change("two", worker());
        const image = `${world.stack}-app:1`;
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        const why = `the image ${image} that web builds changed`;
        assert.ok(out.includes(why), out);
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { web: "recreate", worker: "recreate" });
        assert.equal(reasons(finished, "worker"), why);
        const second = await runs(world);
        assert.equal(second["worker"], second["web"]);
        assert.notEqual(second["web"], first["web"]);

        // What changes alone runs what the other does, whatever the name means by now.
        await docker(world, "tag", IMAGE, image);
        await change("two", worker({ environment: { NEW: "1" } }));
        builds.count = 0;
        const alone = await pollTo(world, "succeeded");
        assert.deepEqual(actions(alone), { web: "keep", worker: "recreate" });
        assert.deepEqual([await runs(world), builds.count], [second, 0]);
        assert.equal(await world.engine.imageId(image, never), second["web"]);

        await commandTo(world, 0, ["rollback", world.stack, "1"]);
        assert.deepEqual(await runs(world), first);
        assert.equal(world.proxy.pulls(), 0);
      }));

    it("run on after a failed build, and a repair takes what they ran", () =>
      building(engine, async ({ world, change }) => {
        await change("one", worker());
        await pollTo(world, "succeeded");
        const [first, before] = [await runs(world), await ids(world)];
        await change(BROKEN, worker());
        assert.match(JSON.stringify(await pollTo(world, "failed")), /docker compose build failed/);
        assert.deepEqual(await ids(world), before);
        assert.equal(await world.engine.imageId(`${world.stack}-app:1`, never), first["web"]);

        await change("one", worker());
        await docker(world, "tag", IMAGE, `${world.stack}-app:1`);
        await docker(world, "rm", "--force", `${world.stack}-worker-1`);
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          web: "keep",
          worker: "create",
        });
        assert.deepEqual(await runs(world), first);
      }));

    it("is built for a worker where web has no container", () =>
      building(engine, async ({ world, builds, change }) => {
        const alone = (image: string) => ({
          web: service({ image, build: "./app", deploy: { replicas: 0 } }),
          ...worker({ depends_on: [] })(image),
        });
        await change("one", alone);
        await pollTo(world, "succeeded");
        const first = await runs(world);
        assert.deepEqual([Object.keys(first), builds.count], [["worker"], 1]);
        await change("two", alone);
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { web: "keep", worker: "recreate" });
        assert.notDeepEqual(await runs(world), first);
        await pollTo(world, "skipped");
      }));
  });
}

describe("an image that is mounted and that another service builds", () => {
  it("is an input, is not pulled, and is put back with its release", () =>
    building("fake", async ({ world, change }) => {
      // Older ones mount no images.
      world.fake?.speak("1.48");
      await world.restart();
      const user = (source: string) => ({
        user: service({ volumes: [{ type: "image", source, target: "/data" }] }),
      });
      const name = `${world.stack}-app:1`;
      await change("one", user);
      await pollTo(world, "succeeded");
      const older = await world.engine.imageId(name, never);
      await change("two", user);
      const finished = await pollTo(world, "succeeded");
      assert.deepEqual(actions(finished), { user: "recreate", web: "recreate" });
      assert.equal(reasons(finished, "user"), `the image ${name} that web builds changed`);
      assert.notEqual(await world.engine.imageId(name, never), older);
      assert.equal(world.proxy.pulls(), 0);

      const { out } = await commandTo(world, 0, ["rollback", world.stack, "1"]);
      assert.match(out, /recreate user, web|recreate web, user/);
      assert.equal(await world.engine.imageId(name, never), older);
    }));
});
