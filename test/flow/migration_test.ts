import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { ids, inWorld, pollTo, readInside, replaced, states } from "./steps.ts";
import { engines, realSocket, type World } from "./world.ts";

const never = new AbortController().signal;

/** Labels that another manager left on containers; they mean nothing here. */
const FOREIGN = {
  "cd.doco.metadata.manager": "doco-cd",
  "cd.doco.deployment.name": "shop",
  "cd.doco.repository.name": "me/shop",
};

const shop = (labels: Readonly<Record<string, string>> = {}) =>
  composeFile({
    db: service({ volumes: ["store:/store"], labels }),
    web: service({ labels }),
  }, { volumes: { store: {} } });

/** Starts the project as the manager before us did. */
async function startElsewhere(world: World): Promise<void> {
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const host = world.fake?.host ?? `unix://${await realSocket()}`;
  try {
    const args = ["-p", world.stack, "-f", "-", "up", "-d", "--pull", "never"];
    const { code, output } = await compose.run(host, args, shop(FOREIGN));
    assert.equal(code, 0, output);
  } finally {
    await compose.close();
  }
}

/** What keeps data and connections: networks by id, volumes by name. */
async function resources(world: World): Promise<unknown> {
  const project = { "com.docker.compose.project": world.stack };
  return {
    networks: (await world.engine.listNetworks(project, never)).map((each) => each.id),
    volumes: (await world.engine.listVolumes(project, never)).map((each) => each.name),
  };
}

/** The working directory of the world's repository. */
async function checkoutOf(world: World): Promise<string> {
  return await world.repository.git("rev-parse", "--show-toplevel");
}

for (const engine of await engines()) {
  describe(`containers of another manager on the ${engine} engine`, () => {
    it("find what they wrote through relative mounts when it was copied to its place here", () =>
      inWorld(engine, async (world) => {
        const live = join(world.dataDir, "releases/default", world.stack, "live");
        await mkdir(join(live, "data"), { recursive: true });
        await writeFile(join(live, "data/file"), "precious");
        await mkdir(join(live, "app/mixed"), { recursive: true });
        await writeFile(join(live, "app/mixed/written"), "precious too");
        await world.repository.commit({
          ".doco-cd.yaml": configFile({ name: world.stack, working_dir: "app" }),
          "app/compose.yaml": composeFile({
            web: service({ volumes: ["../data:/data", "./mixed:/mixed"] }),
          }),
          "app/mixed/tracked": "of the repository",
        });
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/data/file"), "precious");
        assert.equal(await readInside(world, "web", "/mixed/written"), "precious too");
        assert.equal(await readInside(world, "web", "/mixed/tracked"), "of the repository");
      }));

    // The rest is about us. What is left alone is decided by names and labels.
    if (engine === "real") return;

    it("stay as they are while paused, are shown by plan, and are replaced once", () =>
      inWorld(engine, async (world) => {
        await startElsewhere(world);
        const before = await ids(world);
        const had = await resources(world);
        const commit = (pause: boolean) =>
          world.repository.commit({
            ".doco-cd.yml": configFile({ name: world.stack, version: "doco.v1", pause }),
            "compose.yaml": shop(),
          });
        await commit(true);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);

        await commit(false);
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.match(out, /recreate db, web/);
        assert.deepEqual(await ids(world), before);

        const run = await pollTo(world, "succeeded");
        assert.match(JSON.stringify(run), /adopted containers that Stackwright had not made/);
        const adopted = await ids(world);
        assert.deepEqual(replaced(before, adopted), ["db-1", "web-1"]);
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
        assert.deepEqual(await resources(world), had);
        await pollTo(world, "skipped");
        assert.deepEqual(await ids(world), adopted);
      }));

    it("that are doco-cd itself are not started again", () =>
      inWorld(engine, async (world) => {
        await startElsewhere(world);
        const before = await ids(world);
        const old = composeFile({ web: service({ image: "registry.example/doco-cd:1" }) });
        const files = (more: object = {}) => ({
          ".doco-cd.yml": configFile({ name: world.stack, ...more }),
          "compose.yaml": old,
        });
        await world.repository.commit(files());
        world.proxy.reset();
        const { err } = await commandTo(world, 1, ["plan", world.repository.url]);
        assert.match(err, /services\.web\.image: registry\.example\/doco-cd:1 is doco-cd/);
        const run = await pollTo(world, "failed");
        assert.match(JSON.stringify(run), /is not started beside Stackwright/);
        await world.repository.commit(files({ pause: true }));
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);

        await world.repository.commit(files({ destroy: true }));
        await commandTo(world, 0, ["validate", await checkoutOf(world)]);
      }));
  });
}

describe("file names of those who move here", () => {
  it("ours comes first, and the log names the file that was read instead of ours", () =>
    inWorld("fake", async (world) => {
      const files = { "compose.yaml": composeFile({ web: service() }) };
      await world.repository.commit({
        ".doco-cd.yaml": configFile({ name: `${world.stack}-old` }),
        ...files,
      });
      await pollTo(world, "succeeded");
      await pollTo(world, "skipped");
      const told = world.lines.filter(({ message }) =>
        message === "reading .doco-cd.yaml; its name here is .stackwright.yaml"
      );
      assert.deepEqual(told.map(({ level }) => level), ["info", "debug"], "once at info");
      await world.repository.commit({ ".stackwright.yml": configFile({ name: world.stack }) });
      await pollTo(world, "succeeded");
      assert.equal((await world.containers()).length, 1);
    }));

  it("keys that had another name once are refused with the name of today", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".doco-cd.yml": "working_dir: apps\nauto_discover: true\nauto_discover_opts: {depth: 1}\n",
      });
      const { message = "" } = await pollTo(world, "failed");
      assert.match(message, /2:1: auto_discover: unknown key .* said with "auto_discovery" today/);
      assert.match(message, /and 1 more problem/);
    }));
});
