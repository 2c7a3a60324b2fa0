import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { command } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

/** A stack whose job runs in its own container until somebody ends it; each of its services has a number. */
function shop(number: string, web: Part = service({ labels: { number } })) {
  const labels = {
    number,
    "stackwright.job.enabled": "true",
    "stackwright.job.schedule": "0 0 1 1 *",
  };
  return { "compose.yaml": composeFile({ web, backup: service({ labels }) }) };
}

/** The clock of a world goes as fast as it is asked: an hour are some seconds. */
const PATIENT = { timeout: "1h" };

/** Starts a run of the job, which goes on. */
async function run(world: World): Promise<void> {
  const path = `/v1/api/job/${world.stack}-backup-1/run`;
  assert.equal((await world.request(path, { method: "POST" })).status, 200);
  assert.equal((await states(world))["backup-1"], "running");
}

/** Does what waits for the job, which is ended once that is said; before that, nothing was changed. */
async function once<T>(world: World, work: () => Promise<T>): Promise<T> {
  await run(world);
  const [before, said] = [await ids(world), world.lines.length];
  const done = work();
  let isOver = false;
  done.finally(() => void (isOver = true)).catch(() => {});
  const text = `waiting for running jobs: ${world.stack}-backup-1`;
  await until(() => isOver || world.lines.slice(said).some(({ message }) => message === text));
  assert.deepEqual(await ids(world), before);
  assert.equal((await states(world))["backup-1"], "running");
  await docker(world, "stop", "-t", "0", `${world.stack}-backup-1`);
  return await done;
}

/** That the job's container was made anew, and does not run. */
async function isIdle(world: World, before: Readonly<Record<string, string>>): Promise<void> {
  assert.notEqual((await ids(world))["backup-1"], before["backup-1"]);
  assert.deepEqual(await states(world), { "web-1": "running", "backup-1": "created" });
}

describe("a run of a scheduled job in its own container, on the fake engine", () => {
  it("is waited for by a deployment, a rollback and a recreate, none of which starts the job again", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), PATIENT);
      await pollTo(world, "succeeded");
      let before = await ids(world);
      await commit(world, shop("2"), PATIENT);
      await once(world, () => pollTo(world, "succeeded"));
      await isIdle(world, before);

      before = await ids(world);
      const back = `/v1/api/deployment/${world.stack}/rollback?wait=true`;
      const put = await once(world, () => world.request(back, { method: "POST", body: "{}" }));
      assert.equal(put.status, 200, await put.text());
      await isIdle(world, before);

      before = await ids(world);
      const path = `/v1/api/project/${world.stack}/recreate`;
      const anew = await once(world, () => world.request(path, { method: "POST" }));
      assert.equal(anew.status, 200);
      await isIdle(world, before);
    }));

  it("is not begun anew by a deployment that fails, by what puts the release back, or by the next one", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), PATIENT);
      await pollTo(world, "succeeded");
      await commit(world, shop("2", badService(world)), PATIENT);
      await once(world, () => pollTo(world, "failed"));
      assert.notEqual((await states(world))["backup-1"], "running");
      await commit(world, shop("1"), PATIENT);
      await pollTo(world, "skipped");
      assert.notEqual((await states(world))["backup-1"], "running");
    }));

  it("is not waited for, nor begun anew, where wait_running_jobs says so, of a rollback either", () =>
    inWorld("fake", async (world) => {
      const says = { wait_running_jobs: false };
      for (const number of ["1", "2"]) {
        await commit(world, shop(number), says);
        await pollTo(world, "succeeded");
      }
      for (
        const work of [
          async () => assert.equal((await command(world, ["rollback", world.stack])).code, 0),
          async () => {
            await commit(world, shop("3"), says);
            await pollTo(world, "succeeded");
          },
        ]
      ) {
        const before = await ids(world);
        await run(world);
        await work();
        await isIdle(world, before);
      }
    }));
});
