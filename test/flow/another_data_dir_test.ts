import assert from "node:assert/strict";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo, readInside, writeInside } from "./steps.ts";
import type { World } from "./world.ts";

const COMPOSE = composeFile({
  other: service(),
  web: service({ volumes: ["./data:/data"] }),
});

/** Deploys a stack that writes to its relative mount; returns a data directory beside the world's. */
async function deployed(world: World): Promise<{ other: string; live: string }> {
  await commit(world, { "compose.yaml": COMPOSE });
  await pollTo(world, "succeeded");
  await writeInside(world, "web", "/data/written", "precious");
  const other = join(dirname(world.dataDir), "another");
  await mkdir(other);
  return { other, live: join("releases/default", world.stack, "live") };
}

// The copies are made by us, as those of test/flow/old_data_test.ts, which are on both engines.
describe("data of a stack of another data directory", () => {
  const engine = "fake";
  it("comes along, stays where it was, and the plan and the run say so", () =>
    inWorld(engine, async (world) => {
      const { other, live } = await deployed(world);
      const { url } = world.repository;
      const from = join(world.dataDir, live, "data");
      const how = { env: { DATA_DIR: other } };
      const said = `what ${from} holds (mounted at /data) is copied to ${join(other, live)}/data`;
      const { out } = await commandTo(world, 2, ["plan", url], how);
      assert.ok(out.includes(said), out);
      const { out: done } = await commandTo(world, 0, ["apply", url], how);
      assert.ok(done.includes(`with the data in ${from}`), done);
      assert.equal(await readInside(world, "web", "/data/written"), "precious");
      await writeInside(world, "web", "/data/written", "newer");
      // Back in the first directory, there are two versions, and a person has to choose one.
      const before = await ids(world);
      const failed = JSON.stringify(await pollTo(world, "failed"));
      const both = `in ${join(other, live)}/data, and that of before is in ${from}`;
      assert.ok(failed.includes(both), failed);
      assert.match(failed, /was deployed with another data directory/);
      assert.deepEqual(await ids(world), before);
      await rm(from, { recursive: true });
      await pollTo(world, "succeeded");
      assert.equal(await readInside(world, "web", "/data/written"), "newer");
      await pollTo(world, "skipped");
    }));
});

describe("data of a stack of another data directory", () => {
  it("is that of the directory that was moved away", () =>
    inWorld("fake", async (world) => {
      const { other, live } = await deployed(world);
      await world.stop();
      await rm(other, { recursive: true });
      await cp(world.dataDir, other, { recursive: true, verbatimSymlinks: true });
      await rename(join(world.dataDir, live), join(world.dataDir, "away"));
      const how = { env: { DATA_DIR: other } };
      await commandTo(world, 0, ["apply", world.repository.url], how);
      assert.equal(await readInside(world, "web", "/data/written"), "precious");
    }));

  it("goes to no stack that was handed over once, whose new owner has deployed it", () =>
    inWorld("fake", async (world) => {
      const never = new AbortController().signal;
      const volumes = { store: {} };
      const files = (number: string) => ({
        ".stackwright.yaml": JSON.stringify({ name: world.stack }),
        "compose.yaml": composeFile({
          web: service({ labels: { number }, volumes: ["store:/store"] }),
        }, { volumes }),
      });
      const make = async (name: string) => {
        const made = await createRepository(join(dirname(world.repository.path), name));
        await made.commit(files(name));
        return made.url;
      };
      const [heir, theirs] = [await make("heir"), await make("theirs")];
      await commit(world, files("first"));
      await pollTo(world, "succeeded");
      await commandTo(world, 0, ["adopt", world.stack, "--source", heir]);
      await commandTo(world, 0, ["apply", heir]);
      // The volume is still labelled for its first owner, and the new one's by now.
      const removeAll = async () => {
        for (const { id } of await world.containers()) {
          await world.engine.removeContainer(id, { force: true, volumes: false }, never);
        }
      };
      await removeAll();
      await commandTo(world, 0, ["apply", heir]);
      await removeAll();
      await world.engine.removeVolume(`${world.stack}_store`, never);
      await world.engine.removeNetwork(`${world.stack}_default`, never);
      const other = join(dirname(world.dataDir), "another");
      await mkdir(other);
      await commandTo(world, 0, ["apply", theirs], { env: { DATA_DIR: other } });
      const before = await ids(world);
      const { err, out } = await commandTo(world, 1, ["apply", heir]);
      assert.match(err + out, /conflict: .* already runs from .*theirs/);
      assert.deepEqual(await ids(world), before);
      await removeAll();
      const volume = await commandTo(world, 1, ["apply", heir]);
      assert.match(volume.err + volume.out, /conflict: .* has data of .*theirs/);
    }));

  it("is taken from nobody else's stack", () =>
    inWorld("fake", async (world) => {
      const { other } = await deployed(world);
      const theirs = await createRepository(join(dirname(world.repository.path), "theirs"));
      await theirs.commit({
        ".stackwright.yaml": JSON.stringify({ name: world.stack }),
        "compose.yaml": COMPOSE,
      });
      const before = await ids(world);
      const how = { env: { DATA_DIR: other } };
      const { err, out } = await commandTo(world, 1, ["apply", theirs.url], how);
      assert.match(err + out, /conflict/);
      assert.deepEqual(await ids(world), before);
    }));

  it("that cannot be seen stops the deployment", () =>
    inWorld("fake", async (world) => {
      const { other, live } = await deployed(world);
      await rm(join(world.dataDir, live, "data"), { recursive: true });
      const before = await ids(world);
      const how = { env: { DATA_DIR: other } };
      const { err, out } = await commandTo(world, 1, ["apply", world.repository.url], how);
      assert.match(err + out, /would start without it/);
      assert.deepEqual(await ids(world), before);
      await mkdir(join(other, live, "data"), { recursive: true });
      await writeFile(join(other, live, "data/written"), "brought by hand");
      await commandTo(world, 0, ["apply", world.repository.url], how);
      assert.equal(await readInside(world, "web", "/data/written"), "brought by hand");
    }));

  it("that services of a swarm wrote stops the deployment, until somebody brings it", () =>
    inWorld("fake", async (world) => {
      world.fake?.becomeManager();
      await commit(world, { "compose.yaml": COMPOSE, "data/seed": "seed" });
      await pollTo(world, "succeeded");
      const live = join("releases/default", world.stack, "live");
      const from = join(world.dataDir, live, "data");
      await writeFile(join(from, "written"), "precious");
      const other = join(dirname(world.dataDir), "another");
      await mkdir(other);
      const how = { env: { DATA_DIR: other } };
      const label = { "com.docker.stack.namespace": world.stack };
      const services = async () =>
        (await world.engine.swarm.services(label, new AbortController().signal))
          .map(({ id, version }) => `${id} ${version}`);
      const before = await services();
      const { err, out } = await commandTo(world, 1, ["apply", world.repository.url], how);
      assert.match(err + out, /which Stackwright does not copy in a swarm/);
      const place = join(other, live, "data");
      assert.ok((err + out).includes(`cp -a ${from} ${place}`), err + out);
      assert.deepEqual(await services(), before);
      await cp(from, place, { recursive: true });
      await commandTo(world, 0, ["apply", world.repository.url], how);
      assert.notDeepEqual(await services(), before);
    }));
});
