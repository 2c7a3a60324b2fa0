import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { freePort } from "../fakes/free_port.ts";
import { composeFile, service } from "../flow/compose_text.ts";
import { commit, docker, inWorld, pollTo, states } from "../flow/steps.ts";
import { engines, type World } from "../flow/world.ts";
import { DENO_PROGRAM, executables, type Program, ServiceProcess } from "./service_process.ts";

/** Runs until somebody lets it go, and keeps what it works on to itself. */
const backup = (mode: "one_off" | "restart") =>
  service({
    command: ["sh", "-c", "while [ ! -e /go ]; do sleep 0.1; done; echo out of space; exit 5"],
    labels: {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "0 0 1 1 *",
      "stackwright.job.execution_mode": mode,
      "stackwright.job.stop_services": "web",
    },
  });
/** Ends with 0 when it is stopped, so that no look starts it again by itself. */
const web = service({ command: ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"] });

/** A program that serves what a world deployed, on a port of its own. */
async function serve(world: World, program: Program) {
  const port = await freePort();
  const process = new ServiceProcess(program, ["serve"], {
    ...world.env,
    HTTP_PORT: String(port),
    METRICS_PORT: String(await freePort()),
  });
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/api/${path}`, {
      ...init,
      headers: { "x-api-key": world.env["API_SECRET"] ?? "" },
    });
    return (await answer.json()).content;
  };
  const isJob = async (status: string) => {
    const listed = await ask(`jobs?stack=${world.stack}`).catch(() => []);
    return listed[0]?.status === status;
  };
  await process.until(() => process.stderr.includes("listening on"));
  return { process, ask, isJob };
}

/** What was made for runs of jobs of this world, and runs. */
async function executions(world: World): Promise<string[]> {
  const found = await docker(
    world,
    ...["ps", "-q", "--filter", "label=stackwright.job.run"],
    ...["--filter", `label=com.docker.compose.project=${world.stack}`],
  );
  return found.trim() === "" ? [] : found.trim().split("\n");
}

const isReal = (await engines()).includes("real");

for (const program of [...executables(), DENO_PROGRAM].slice(0, 1)) {
  describe(`${program.title} killed while a run of a job is under way`, () => {
    it("takes one in the job's own container over, with what it had stopped", {
      skip: isReal ? false : "it is about a real engine, and there is none",
    }, () =>
      inWorld("real", async (world) => {
        await commit(world, { "compose.yaml": composeFile({ web, backup: backup("restart") }) });
        await pollTo(world, "succeeded");
        await world.stop();
        let served = await serve(world, program);
        try {
          const path = `job/${world.stack}-backup-1/run?wait=false`;
          await served.ask(path, { method: "POST" });
          await served.process.until(async () => (await states(world))["backup-1"] === "running");
          served.process.kill("SIGKILL");
          await served.process.ended;
          assert.deepEqual(await states(world), { "backup-1": "running", "web-1": "exited" });

          served = await serve(world, program);
          await served.process.until(() => served.isJob("running"));
          await docker(world, "exec", "--detach", `${world.stack}-backup-1`, "touch", "/go");
          await served.process.until(async () => (await states(world))["web-1"] === "running");
          await served.process.until(async () => {
            const [last] = await served.ask("runs?trigger=scheduled_job");
            return /backup ran and exited with status 5: out of space$/.test(last?.message);
          });
          assert.equal((await served.process.stop()).code, 0);
        } finally {
          await served.process.stop();
        }
      }));

    it("leaves a one-off run going on, and the next one takes it over with what it had stopped", {
      skip: isReal ? false : "it is about a real engine, and there is none",
    }, () =>
      inWorld("real", async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({ web: service(), backup: backup("one_off") }),
        });
        await pollTo(world, "succeeded");
        await world.stop();
        let served = await serve(world, program);
        try {
          const path = `job/${world.stack}-backup-1/run?wait=false`;
          await served.ask(path, { method: "POST" });
          await served.process.until(async () => (await executions(world)).length === 1);
          const [id = ""] = await executions(world);
          served.process.kill("SIGKILL");
          assert.equal((await served.process.ended).signal, "SIGKILL");
          assert.equal((await states(world))["web-1"], "exited");
          assert.deepEqual(await executions(world), [id]);

          served = await serve(world, program);
          await served.process.until(() => served.isJob("running"));
          assert.deepEqual(await executions(world), [id]);
          await docker(world, "exec", "--detach", id, "touch", "/go");
          await served.process.until(async () => {
            const [last] = await served.ask("runs?trigger=scheduled_job");
            return /backup ran and exited with status 5: out of space$/.test(last?.message);
          });
          assert.ok(await served.isJob("exited (5)"));
          assert.deepEqual(await states(world), { "backup-1": "created", "web-1": "running" });
          assert.equal((await served.process.stop()).code, 0);
        } finally {
          await served.process.stop();
        }
      }));
  });
}
