import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { command, rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, interrupt, inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

/** A world whose first release mounts a file that only its second life says is our own. */
async function withMountOfOurs(work: (world: World, token: string) => Promise<void>) {
  const directory = await mkdtemp(join(tmpdir(), "swt-kept-"));
  const token = join(directory, "token");
  await writeFile(token, "a-token-that-nobody-may-mount\n");
  try {
    await inWorld("fake", async (world) => {
      const web = service({ volumes: [`${token}:/token:ro`, "./own.txt:/own.txt:ro"] });
      await commit(world, { "compose.yaml": composeFile({ web }), "own.txt": "1\n" });
      await pollTo(world, "succeeded");
      await work(world, token);
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

const REFUSED = new RegExp(
  "release 1 was deployed before this was refused, and is not brought back: deployment \\S+: service web: " +
    "volume mounts data or secrets of Stackwright itself.*; mend it in its repository and deploy that",
);

describe("a release that would be refused today", () => {
  it("is not rolled back to, and one with mounts of its own files is", () =>
    withMountOfOurs(async (world, token) => {
      for (const number of ["2", "3"]) {
        const web = service({ labels: { number }, volumes: ["./own.txt:/own.txt", ".:/all:ro"] });
        await commit(world, { "compose.yaml": composeFile({ web }) });
        await pollTo(world, "succeeded");
      }
      const env = { WEBHOOK_SECRET_FILE: token };
      const before = await world.containers();
      const refused = await command(world, ["rollback", world.stack, "1"], { env });
      assert.notEqual(refused.code, 0);
      assert.match(refused.err, REFUSED);
      assert.deepEqual(
        (await world.containers()).map((each) => each.id),
        before.map((each) => each.id),
      );
      const done = await command(world, ["rollback", world.stack, "2"], { env });
      assert.equal(done.code, 0, done.err);
    }));

  it("is not put back when the next one fails", () =>
    withMountOfOurs(async (world, token) => {
      await world.restart({ WEBHOOK_SECRET_FILE: token });
      const web = badService(world);
      await commit(world, { "compose.yaml": composeFile({ web }) });
      const run = await pollTo(world, "failed");
      assert.doesNotMatch(JSON.stringify(run), /release was put back/);
      const containers = await world.containers();
      assert.deepEqual(containers.filter((each) => each.state === "running"), []);
      assert.ok(
        world.lines.some((each) =>
          /release 1 cannot be put back if the next one fails: release 1 was deployed before this was/
            .test(JSON.stringify(each))
        ),
      );
    }));

  it("is not finished at a start after it was interrupted, nor tried at each", () =>
    withMountOfOurs(async (world, token) => {
      const web = service({ volumes: ["./own.txt:/own.txt:ro"] });
      await commit(world, { "compose.yaml": composeFile({ web }) });
      await pollTo(world, "succeeded");
      await world.stop();
      interrupt(world, 1);
      await world.restart({ WEBHOOK_SECRET_FILE: token });
      await world.app.polled;
      const [first] = rows(world, "SELECT status, message FROM releases WHERE number = 1");
      assert.match(String(first?.["message"]), /^interrupted, and release 1 was deployed before/);
      assert.deepEqual(rows(world, "SELECT * FROM intents WHERE closed_at IS NULL"), []);
    }));

  it("is not repaired while it is held, and says so", () =>
    withMountOfOurs(async (world, token) => {
      await world.restart({ WEBHOOK_SECRET_FILE: token });
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await commit(world, {}, { pause: true });
      const run = await pollTo(world, "failed");
      assert.match(JSON.stringify(run), /release 1 was deployed before this was refused/);
      assert.equal((await world.containers()).length, 0);
    }));
});
