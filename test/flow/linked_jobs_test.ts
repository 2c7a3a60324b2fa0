/** Jobs whose stack's files, or the files of what they stop, are not what they were deployed with. */
import assert from "node:assert/strict";
import { rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { executionBody, idle } from "../../src/deploy/jobs/swarm_job.ts";
import { makeExecution } from "../../src/deploy/jobs/execution.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, states } from "./steps.ts";
import type { RunBody, World } from "./world.ts";

const never = new AbortController().signal;

/** A job that is due once in a year. */
function job(mode: string, more: Part = {}): Part {
  const labels = {
    "stackwright.job.enabled": "true",
    "stackwright.job.schedule": "0 0 1 1 *",
    "stackwright.job.execution_mode": mode,
  };
  return service({ command: ["true"], labels, ...more });
}

/** Puts a link to the data directory in the place of a stack's `data/sub`, as a container can. */
async function putLink(world: World, stack = world.stack, directory = ""): Promise<void> {
  const sub = join(world.dataDir, "releases/default", stack, "live", directory, "data/sub");
  await rm(sub, { recursive: true });
  await symlink(world.dataDir, sub);
}

/** What the engine has running, by short names: containers, or tasks that services want. */
async function wanted(world: World, stack = world.stack): Promise<Record<string, unknown>> {
  if (world.fake?.isManager() !== true) return await states(world, stack);
  const services = await world.engine.swarm.services(
    { "com.docker.stack.namespace": stack },
    never,
  );
  return Object.fromEntries(services.map(({ name, mode }) => {
    const tasks = mode.kind === "replicated" ? mode.replicas : "idle";
    return [name.slice(stack.length + 1), tasks];
  }));
}

/** Makes a run of `job`, which has stopped a service of another stack, and is not started. */
async function beginRun(world: World, other: string): Promise<void> {
  const { engine } = world;
  if (world.fake?.isManager() !== true) {
    const find = async (stack: string) => (await world.containers(stack))[0]?.id ?? "";
    const [own, web] = [await find(world.stack), await find(other)];
    await makeExecution(engine, own, { runId: "1", stops: [web] }, never);
    return await engine.stopContainer(web, 0, never);
  }
  const all = await engine.swarm.services({}, never);
  const like = all.find(({ name }) => name === `${world.stack}_job`);
  const web = all.find(({ name }) => name === `${other}_web`);
  assert.ok(like && web);
  const stops = [{ id: web.id, replicas: 1 }];
  const execution = { runId: "0123456789ab", stops, completions: 1 };
  const made = idle(executionBody(like, execution));
  await engine.swarm.createService({ body: made, auth: "" }, never);
  const body = { ...web.spec, Mode: { Replicated: { Replicas: 0 } } };
  await engine.swarm.updateService(web, { body, auth: "" }, never);
}

for (const where of ["containers", "a swarm"] as const) {
  const inPlace = (test: (world: World) => Promise<void>) => () =>
    inWorld("fake", async (world) => {
      if (where === "a swarm") world.fake?.becomeManager();
      world.fake?.setBehaviour("job", { exit: 0 });
      await test(world);
    });
  const run = async (world: World, name: string) => {
    const full = where === "a swarm" ? `${world.stack}_${name}` : `${world.stack}-${name}-1`;
    const answer = await world.request(`/v1/api/job/${full}/run`, { method: "POST" });
    return { status: answer.status, text: JSON.stringify(await answer.json()) };
  };

  describe(`jobs in ${where}`, () => {
    for (const mode of ["one_off", "restart"]) {
      it(
        `follow no link that a container put in the place of a mount (${mode})`,
        inPlace(async (world) => {
          await commit(world, {
            "compose.yaml": composeFile({
              writer: service({ volumes: ["./data:/data"] }),
              job: job(mode, { volumes: ["./data/sub:/sub"] }),
            }),
          });
          await pollTo(world, "succeeded");
          await putLink(world);
          const before = await wanted(world);
          const { status, text } = await run(world, "job");
          assert.equal(status, 500, text);
          assert.match(text, /data\/sub leads out of the stack's live files/);
          assert.deepEqual(await wanted(world), before);
        }),
      );
    }

    it(
      "follow no link in the place of a mount that only an orphaned job has",
      inPlace(async (world) => {
        const writer = service({ volumes: ["./data:/data"] });
        const deploy = async (services: Readonly<Record<string, Part>>) => {
          await world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack, remove_orphans: false }),
            "compose.yaml": composeFile(services),
          });
          await pollTo(world, "succeeded");
        };
        await deploy({ writer, job: job("one_off", { volumes: ["./data/sub:/sub"] }) });
        await deploy({ writer: { ...writer, labels: { two: "2" } } });
        await putLink(world);
        const { status, text } = await run(world, "job");
        assert.equal(status, 500, text);
        assert.match(text, /data\/sub leads out of the stack's live files/);
      }),
    );

    it(
      "start nothing again whose mounts lead elsewhere by now, and have stopped none before",
      inPlace(async (world) => {
        const other = `${world.stack}b`;
        const stops = { "stackwright.job.stop_services": `${other}/web` };
        const labels = { ...job("one_off")["labels"] as Part, ...stops };
        await world.repository.commit({
          ".stackwright.yaml": configFile(
            { name: world.stack, working_dir: "a" },
            { name: other, working_dir: "b" },
          ),
          "a/compose.yaml": composeFile({ job: job("one_off", { labels }) }),
          "b/compose.yaml": composeFile({ web: service({ volumes: ["./data/sub:/sub"] }) }),
        });
        await pollTo(world, "succeeded");
        await putLink(world, other, "b");
        const before = await wanted(world, other);
        const { text } = await run(world, "job");
        assert.match(text, /data\/sub leads out of the stack's live files/);
        assert.deepEqual(await wanted(world, other), before);

        await world.stop();
        await beginRun(world, other);
        const stopped = await wanted(world, other);
        assert.notDeepEqual(stopped, before);
        await world.restart();
        let ended: RunBody | undefined;
        while (ended === undefined) {
          await pause(20);
          const answer = await world.request("/v1/api/runs?trigger=scheduled_job&status=failed");
          const { content } = await answer.json() as { content: RunBody[] };
          ended = content.find(({ message }) => message?.includes("ended before it was started"));
        }
        assert.deepEqual(await wanted(world, other), stopped);
        const said = world.lines.map(({ message }) => message);
        assert.ok(said.some((each) => /after the run of a job: .* leads out of/.test(each)));
      }),
    );

    it(
      "do not run when the files of their release are lost, and nobody can look at its mounts",
      inPlace(async (world) => {
        await commit(world, { "compose.yaml": composeFile({ job: job("one_off") }) });
        await pollTo(world, "succeeded");
        const { path } = world.repository;
        await world.stop();
        await rename(path, `${path}-away`);
        await rm(join(world.dataDir, "sources"), { recursive: true });
        try {
          await world.restart();
          const { status, text } = await run(world, "job");
          assert.equal(status, 500, text);
          assert.match(text, /the files of release 1 of .* cannot be had.*Nothing was started/);
        } finally {
          await rename(`${path}-away`, path);
        }
      }),
    );
  });
}
