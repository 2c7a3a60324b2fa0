import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { actions, commit, ids, inWorld, pollTo, readInside, reasons, states } from "./steps.ts";
import { engines, type World } from "./world.ts";

const DB = service({ volumes: ["./d:/d"] });
const ALONE = "its profile is not active, and Stackwright did not make it: it is left alone";

/** The project with a service of a profile, `app` being of some version. */
function project(version: string): string {
  const app = service({ environment: { VERSION: version } });
  return composeFile({ app, db: { ...DB, profiles: ["db"] } });
}

/** A project that somebody started from a directory, with `db` and its data. */
async function withDatabase(world: World, test: (directory: string) => Promise<void>) {
  const directory = await mkdtemp(join(tmpdir(), "swt-profile-"));
  try {
    await mkdir(join(directory, "d"));
    await writeFile(join(directory, "d/f"), "precious");
    // As `docker compose --profile db up` does.
    await startByHand(world, composeFile({ app: service(), db: DB }), { directory });
    await test(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

for (const engine of await engines()) {
  describe(`a service whose profile is not active, on the ${engine} engine`, () => {
    it("is left alone where somebody else started it, and keeps its data when the profile is active", () =>
      inWorld(engine, (world) =>
        withDatabase(world, async (directory) => {
          const before = (await ids(world))["db-1"];
          await commit(world, { "compose.yaml": project("1") });
          const adopted = await pollTo(world, "succeeded");
          assert.deepEqual(actions(adopted), { app: "recreate", db: "keep" });
          assert.equal(reasons(adopted, "db"), ALONE);
          assert.doesNotMatch(JSON.stringify(adopted), /orphan/);
          await pollTo(world, "skipped");

          await commit(world, { "compose.yaml": project("2") });
          const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.match(out, /: deploy: recreate app\n/);
          assert.ok(out.includes(ALONE), out);
          const deployed = await pollTo(world, "succeeded");
          assert.deepEqual(actions(deployed), { app: "recreate", db: "keep" });
          assert.deepEqual(await states(world), { "app-1": "running", "db-1": "running" });
          assert.equal((await ids(world))["db-1"], before);
          const { out: explained } = await commandTo(world, 0, ["explain", world.stack]);
          const name = `${world.stack}-db-1`;
          const left =
            `synced, healthy 1/1: release 2 runs; left alone, since the profile of the ` +
            `service is not active: ${name}`;
          assert.ok(explained.includes(left), explained);
          assert.doesNotMatch(explained, /drift: |orphan/);

          await commit(world, { "compose.yaml": project("2") }, { profiles: ["db"] });
          const active = await pollTo(world, "succeeded");
          assert.deepEqual(actions(active), { app: "keep", db: "recreate" });
          assert.ok(
            reasons(active, "db").includes(`what ${directory}/d holds`),
            reasons(active, "db"),
          );
          assert.equal(await readInside(world, "db", "/d/f"), "precious");
        })));

    it("comes back as it was where a commit that makes its profile active fails", () =>
      inWorld(engine, (world) =>
        withDatabase(world, async (directory) => {
          const profiles = ["db"];
          await commit(world, { "compose.yaml": project("1") });
          await pollTo(world, "succeeded");
          const broken = composeFile({
            app: service({ environment: { VERSION: "2" } }),
            db: badService(world, { volumes: DB["volumes"], profiles }),
          });
          await commit(world, { "compose.yaml": broken }, { profiles });
          const failed = JSON.stringify(await pollTo(world, "failed"));
          const back = `the containers that ran before were put back: ${world.stack}-db-1`;
          assert.ok(failed.includes(back), failed);
          assert.deepEqual(await states(world), { "app-1": "running", "db-1": "running" });
          assert.equal(await readInside(world, "db", "/d/f"), "precious");

          await writeFile(join(directory, "d/f"), "written since");
          await commit(world, { "compose.yaml": project("2") }, { profiles });
          await pollTo(world, "succeeded");
          assert.equal(await readInside(world, "db", "/d/f"), "written since");
        })));

    it("is removed where Stackwright made it, whose data is there when the profile is active again", () =>
      inWorld(engine, async (world) => {
        const profiles = ["db"];
        await commit(world, { "compose.yaml": project("1") }, { profiles });
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          app: "create",
          db: "create",
        });
        const data = join(world.dataDir, "releases/default", world.stack, "live/d/f");
        await writeFile(data, "precious");

        await commit(world, { "compose.yaml": project("1") });
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.match(out, /db: remove: its profile is not active any more/);
        const off = await pollTo(world, "succeeded");
        assert.deepEqual(actions(off), { app: "keep", db: "remove" });
        assert.deepEqual(await states(world), { "app-1": "running" });
        assert.equal(await readFile(data, "utf8"), "precious");

        await commit(world, { "compose.yaml": project("1") }, { profiles });
        assert.deepEqual(actions(await pollTo(world, "succeeded")), { app: "keep", db: "create" });
        assert.equal(await readInside(world, "db", "/d/f"), "precious");
      }));

    // The rest is about us. What is told and counted as an orphan depends on models and names alone.
    if (engine === "real") return;

    it("has data without which another service begins that mounts the same, and the plan says so", () =>
      inWorld(engine, (world) =>
        withDatabase(world, async (directory) => {
          await commit(world, { "compose.yaml": project("1") });
          await pollTo(world, "succeeded");
          const more = (environment: Record<string, string>) =>
            composeFile({
              app: service(),
              db: { ...DB, profiles: ["db"] },
              db2: service({ volumes: ["./d:/d"], environment }),
            });
          await commit(world, { "compose.yaml": more({}) });
          const told = `/d begins empty: what ${join(directory, "d")} holds, which container ` +
            `${world.stack}-db-1 mounts that Stackwright did not make, stays there`;
          const { out, err } = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.ok(out.includes(told), out);
          assert.ok(err.includes(`service db2: ${told}`), err);
          assert.ok(reasons(await pollTo(world, "succeeded"), "db2").includes(told));
          assert.ok(world.lines.some(({ message }) => message.includes(told)));
          await commit(world, { "compose.yaml": more({ A: "1" }) });
          const after = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.doesNotMatch(after.out + after.err, /begins empty/);
        })));

    it("is one of an included file, too, and an orphan where no file has it any more", () =>
      inWorld(engine, (world) =>
        withDatabase(world, async (directory) => {
          const db = composeFile({ db: { ...DB, profiles: ["db"] } });
          const app = (version: string, include: readonly string[]) =>
            composeFile({ app: service({ environment: { VERSION: version } }) }, { include });
          await commit(world, { "compose.yaml": app("1", ["db.yaml"]), "db.yaml": db });
          await pollTo(world, "succeeded");
          await commit(world, { "compose.yaml": app("2", ["db.yaml"]) });
          const kept = await pollTo(world, "succeeded");
          assert.deepEqual(actions(kept), { app: "recreate", db: "keep" });

          await commit(world, { "compose.yaml": app("3", []) });
          const removed = await pollTo(world, "succeeded");
          assert.deepEqual(actions(removed), { app: "recreate", db: "remove" });
          const why = reasons(removed, "db");
          assert.match(why, /no longer in the compose files/);
          const stays = `/d: ${directory}/d is not mounted any more; what it holds stays there`;
          assert.ok(why.includes(stays), why);
        })));
  });
}
