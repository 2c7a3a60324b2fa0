import assert from "node:assert/strict";
import { readdir, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { BUSYBOX_IMAGE } from "../fakes/busybox_image.ts";
import { badService } from "./bad_service.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, readInside, replaced } from "./steps.ts";
import { engines, type World } from "./world.ts";

const COMMITS = 12;
const HOURS = 3_600_000;

/** `changing` sees a file that every commit changes, `kept` one that stays as it was. */
function files(number: number): Record<string, string> {
  return {
    "compose.yaml": composeFile({
      changing: service({ volumes: ["./changing:/files:ro"] }),
      kept: service({ volumes: ["./kept:/files:ro"] }),
      bare: service(),
    }),
    "changing/text": `changing ${number}`,
    "kept/text": "kept",
  };
}

/** Names of the directories that hold trees. */
async function trees(world: World): Promise<string[]> {
  const sources = join(world.dataDir, "sources");
  const all = await readdir(sources, { recursive: true });
  const directory = all.find((each) => basename(each) === "trees");
  return directory === undefined ? [] : await readdir(join(sources, directory));
}

/** Deploys commits 1 to `count`, a minute after each other as the service sees it. */
async function deployMany(world: World, count: number): Promise<string[]> {
  const commits: string[] = [];
  for (let number = 1; number <= count; number++) {
    commits.push(await commit(world, files(number)));
    await pollTo(world, "succeeded");
    world.advance(60_000);
  }
  return commits;
}

for (const engine of await engines()) {
  describe(`old trees on the ${engine} engine`, () => {
    it("are removed after a dozen commits, but none that a container or a release needs", () =>
      inWorld(engine, async (world) => {
        const early = await deployMany(world, COMMITS);
        assert.equal((await trees(world)).length, COMMITS);
        const before = await ids(world);
        world.advance(2 * HOURS);
        const last = await commit(world, files(COMMITS + 1));
        await pollTo(world, "succeeded");
        assert.deepEqual(replaced(before, await ids(world)), ["changing-1"]);

        const needed = [early[0], ...early.slice(-2), last];
        const left = await trees(world);
        for (const each of needed) assert.ok(left.includes(each ?? ""), `${each} is gone`);
        // The clock of the service was put forward, that of a real engine was not: it may be off.
        assert.ok(left.length <= needed.length + (engine === "real" ? 3 : 0), left.join("\n"));

        await seesItsFiles(world, COMMITS + 1);
        await docker(world, "restart", `${world.stack}-kept-1`, `${world.stack}-changing-1`);
        await seesItsFiles(world, COMMITS + 1);
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);

        await commandTo(world, 0, ["rollback", world.stack]);
        await seesItsFiles(world, COMMITS);
        assert.ok(!(await trees(world)).includes(early[9] ?? ""));
        await commandTo(world, 0, ["rollback", world.stack, "10"]);
        await seesItsFiles(world, 10);
        assert.ok((await trees(world)).includes(early[9] ?? ""));
      }));

    // The rest is about us. What a release needs is in the ledger; what a container needs is above.
    if (engine === "real") return;

    it("that a failed release left behind are removed; what was put back is kept", () =>
      inWorld(engine, async (world) => {
        const [good] = await deployMany(world, 1);
        const bad = await commit(world, {
          ...files(2),
          "compose.yaml": composeFile({
            ...JSON.parse(files(2)["compose.yaml"] ?? "").services,
            bad: badService(world),
          }),
        });
        await pollTo(world, "failed");
        assert.deepEqual((await trees(world)).sort(), [good, bad].sort());
        world.advance(2 * HOURS);
        const next = await commit(world, files(3));
        await pollTo(world, "succeeded");
        const left = await trees(world);
        assert.ok(left.includes(good ?? "") && left.includes(next), left.join("\n"));
        if (engine === "fake") {
          assert.ok(!left.includes(bad), "the tree of the bad release is left");
        }
        await seesItsFiles(world, 3);
      }));
  });
}

describe("old trees", () => {
  it("are removed at the start too, and after the stack was destroyed", () =>
    inWorld("fake", async (world) => {
      const commits = await deployMany(world, 6);
      world.advance(2 * HOURS);
      assert.equal((await trees(world)).length, 6);
      await world.restart();
      await pollTo(world, "skipped");
      const needed = [commits[0], ...commits.slice(-3)];
      assert.deepEqual((await trees(world)).sort(), needed.sort());

      // Trees were looked at a moment ago, which is not done for every deployment.
      world.advance(HOURS / 6);
      await commit(world, files(6), { destroy: true });
      await pollTo(world, "succeeded");
      assert.equal((await trees(world)).length, 1, "the newest one is what the next is made from");
      await commit(world, files(7));
      await pollTo(world, "succeeded");
      await seesItsFiles(world, 7);
    }));

  it("stay with ARTIFACT_GC_ENABLED=false", () =>
    inWorld("fake", async (world) => {
      await deployMany(world, 5);
      world.advance(2 * HOURS);
      await deployMany(world, 6);
      assert.equal((await trees(world)).length, 11);
    }, { ARTIFACT_GC_ENABLED: "false" }));

  it("are removed beside a stack of another Stackwright on the same engine", () =>
    inWorld("fake", async (world) => {
      const other = ["--label", "stackwright.deployment=other", "--volume", "other_data:/data"];
      await docker(
        world,
        "run",
        "--detach",
        "--network",
        "none",
        ...other,
        BUSYBOX_IMAGE,
        "sleep",
        "100000",
      );
      await deployMany(world, 5);
      world.advance(2 * HOURS);
      await commit(world, files(6));
      await pollTo(world, "succeeded");
      const { length } = await trees(world);
      assert.ok(length < 6, `${length} trees`);
    }, { ARTIFACT_GC_RETENTION_RECORDS: "0" }));

  it("stay while it is not known which of them containers hold", () =>
    inWorld("fake", async (world) => {
      const commits = await deployMany(world, 5);
      world.advance(2 * HOURS);
      // Containers that started before anything is known: the record of the switches is lost.
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(join(world.dataDir, "state.db"));
      database.exec("DELETE FROM shown_trees");
      database.close();
      const next = await commit(world, files(6));
      await pollTo(world, "succeeded");
      assert.equal((await trees(world)).length, 6);
      const current = join(world.dataDir, "releases", "default", world.stack, "current");
      assert.equal(basename(await readlink(current)), next);
      assert.ok((await trees(world)).includes(commits[0] ?? ""));
    }));

  it("in use lately stay: a preparation may work with them", () =>
    inWorld("fake", async (world) => {
      await deployMany(world, 6);
      world.advance(HOURS / 2);
      await deployMany(world, 1);
      assert.equal((await trees(world)).length, 7);
    }, { ARTIFACT_GC_RETENTION_RECORDS: "0" }));
});

async function seesItsFiles(world: World, number: number): Promise<void> {
  assert.equal(await readInside(world, "changing", "/files/text"), `changing ${number}`);
  assert.equal(await readInside(world, "kept", "/files/text"), "kept");
}
