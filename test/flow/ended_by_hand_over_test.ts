import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { DENO_PROGRAM, ServiceProcess } from "../e2e/service_process.ts";
import { commandTo, rows } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, interrupt, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const ENGINES = await engines();
/** Ends no run within a test: only the hand-over does. */
const DAY = { timeout: "24h" };
/** On the real engine that of release 2 does not end; the fake one is told by a test. */
const healthcheck = (number: string) => ({
  test: ["CMD", number === "2" ? "false" : "true"],
  interval: "1s",
  start_period: "1h",
});
const shop = (number: string, more: Record<string, Part> = {}) => ({
  "compose.yaml": composeFile({
    web: service({ labels: { number }, healthcheck: healthcheck(number) }),
    ...more,
  }),
});

/** What another repository, whose stack has the name of the world's, does. */
interface Other {
  /** Hands the stack to it, as another process than the service does. */
  adopt(): Promise<void>;
  /** Commits `files`; returns the URL of the repository. */
  commit(files?: Record<string, string>): Promise<string>;
  /** Commits `files`, and polls; the text of the run. */
  deploy(status: string, files?: Record<string, string>): Promise<string>;
}

async function withOther(
  test: (world: World, other: Other) => Promise<void>,
  engine: "fake" | "real" = "fake",
): Promise<void> {
  await inWorld(engine, async (world) => {
    const other = await createWorld({ engine: "fake" });
    const { repository } = other;
    const commit = async (files: Record<string, string> = shop("theirs")) => {
      await repository.commit({ ".stackwright.yaml": `name: ${world.stack}\n`, ...files });
      return repository.url;
    };
    try {
      await test(world, {
        commit,
        async adopt() {
          const to = ["--source", repository.url, "--reference", "main"];
          await commandTo(world, 0, ["adopt", world.stack, ...to]);
        },
        deploy: async (status, files) =>
          JSON.stringify(await pollTo(world, status, { url: await commit(files) })),
      });
    } finally {
      await other.close();
    }
  });
}

const open = (world: World) => rows(world, "SELECT * FROM intents WHERE closed_at IS NULL").length;

/** Asserts that release 2 was ended by the hand-over, and is not open any more. */
function assertEnded(world: World): void {
  const [second] = rows(world, "SELECT status, message FROM releases WHERE number = 2");
  assert.equal(second?.["status"], "failed");
  assert.match(String(second?.["message"]), /handed over/);
  assert.equal(open(world), 0);
}

/** Deploys release 1, and begins release 2, whose health check does not end. */
async function hanging(world: World, release: (number: string) => Record<string, string>) {
  await commit(world, release("1"), DAY);
  await pollTo(world, "succeeded");
  world.fake?.setBehaviour("web", { health: "starting" });
  await commit(world, release("2"), DAY);
  const run = world.poll().then((end) => end.run);
  await until(() => isThere(world, "2"));
  world.fake?.setBehaviour("web", { health: "healthy" });
  return { run };
}

/** The containers of service `web`, with the number of the release that they were made for. */
async function webs(world: World) {
  const all = (await world.containers()).filter(({ service }) => service === "web");
  return all.map(({ id, state, labels }) => ({ id, state, number: labels["number"] }));
}

async function isThere(world: World, wanted: string): Promise<boolean> {
  const all = await webs(world);
  return all.some(({ state, number }) => state === "running" && number === wanted);
}

async function turn(world: World, health: "healthy" | "unhealthy"): Promise<void> {
  const [web] = (await webs(world)).filter(({ number }) => number === "2");
  world.fake?.setHealth(web?.id ?? "", health);
}

describe("a rollout of a stack's former owner", () => {
  for (const engine of ENGINES) {
    it(`ends when the new owner comes, who was refused meanwhile, on the ${engine} engine`, () =>
      withOther(async (world, other) => {
        const { run } = await hanging(world, shop);
        assert.match(await other.deploy("failed"), /already belongs to /);
        await commandTo(world, 0, ["adopt", world.stack]);
        await other.deploy("succeeded");
        const ended = await run;
        assert.equal(ended.status, "failed");
        assert.match(JSON.stringify(ended), /was handed over to .*: what was under way /);
        assert.deepEqual((await webs(world)).map(({ number }) => number), ["theirs"]);
        assertEnded(world);
        await other.deploy("skipped");
      }, engine));
  }

  it("lets a paused deployment of another repository be paused, as when nobody is at work", () =>
    withOther(async (world, other) => {
      const { run } = await hanging(world, shop);
      const paused = { ".stackwright.yaml": `name: ${world.stack}\npause: true\n` };
      const told = await other.deploy("skipped", { ...shop("theirs"), ...paused });
      assert.match(told, /paused: deployment \S+ is paused/);
      await turn(world, "healthy");
      assert.equal((await run).status, "succeeded");
      assert.match(await other.deploy("skipped", paused), /paused: deployment \S+ is paused/);
    }));

  for (const engine of ENGINES) {
    it(`ends at the hand-over by another process, which then deploys, on the ${engine} engine`, () =>
      withOther(async (world, other) => {
        const { run } = await hanging(world, shop);
        const url = await other.commit();
        for (const args of [["adopt", world.stack, "--source", url], ["apply", url]]) {
          const process = new ServiceProcess(DENO_PROGRAM, args, world.env);
          try {
            await until(() => !process.running);
            assert.equal((await process.ended).code, 0, process.stderr);
          } finally {
            process.kill("SIGKILL");
          }
        }
        assert.match(JSON.stringify(await run), /was handed over to /);
        assert.deepEqual((await webs(world)).map(({ number }) => number), ["theirs"]);
        assertEnded(world);
      }, engine));
  }

  it("ends at the hand-over over the API, and what it has changed is its owner's when that is taken back", () =>
    withOther(async (world, other) => {
      const { run } = await hanging(world, shop);
      const to = { source: await other.commit(), reference: "main" };
      const path = `/v1/api/deployment/${world.stack}/adopt`;
      await world.request(path, { method: "POST", body: JSON.stringify(to) });
      await until(() => open(world) === 0);
      assert.match(JSON.stringify(await run), /was handed over to /);
      assertEnded(world);
      await commandTo(world, 0, ["adopt", world.stack, "--source", world.repository.url]);
      await other.deploy("failed");
      await turn(world, "healthy");
      // What was changed stayed, and is just what the owner wants.
      await pollTo(world, "skipped");
      assert.deepEqual((await webs(world)).map(({ number }) => number), ["2"]);
    }));

  it("makes and starts nothing after the hand-over, although nobody deploys", () =>
    withOther(async (world, other) => {
      const { run } = await hanging(world, (number) => {
        const [labels, depends_on] = [{ number }, { web: { condition: "service_healthy" } }];
        const web = service({ labels, healthcheck: healthcheck(number) });
        return { "compose.yaml": composeFile({ web, last: service({ labels, depends_on }) }) };
      });
      await other.adopt();
      await turn(world, "healthy");
      assert.match(JSON.stringify(await run), /was handed over to /);
      // It was made before, in the place of the one that it replaces.
      assert.equal((await states(world))["last-1"], "created");
      assertEnded(world);
      await other.deploy("succeeded");
      assert.deepEqual(await states(world), { "web-1": "running" });
    }));

  it("removes nothing after the hand-over, although nobody deploys", () =>
    withOther(async (world, other) => {
      const { run } = await hanging(world, (number) => {
        const web = service({ labels: { number }, healthcheck: healthcheck(number) });
        const gone = number === "1" ? { gone: service() } : {};
        return { "compose.yaml": composeFile({ web, ...gone }) };
      });
      await other.adopt();
      await turn(world, "healthy");
      assert.match(JSON.stringify(await run), /was handed over to /);
      assert.equal((await states(world))["gone-1"], "running");
      assertEnded(world);
    }));

  it("is not taken back when it fails after the hand-over", () =>
    withOther(async (world, other) => {
      const { run } = await hanging(world, (number) => {
        const deploy = { update_config: { order: "stop-first" } };
        return {
          "compose.yaml": composeFile({
            web: service({ labels: { number }, deploy, healthcheck: healthcheck(number) }),
          }),
        };
      });
      await other.adopt();
      await turn(world, "unhealthy");
      assert.match(JSON.stringify(await run), /was handed over to /);
      assert.deepEqual((await webs(world)).map(({ number }) => number), ["2"]);
      assertEnded(world);
      await other.deploy("succeeded");
    }));

  for (const isFirst of [true, false]) {
    const when = isFirst ? "before" : "after";
    it(`is not resumed where its process was killed ${when} the hand-over`, () =>
      withOther(async (world, other) => {
        for (const number of ["1", "2", "1"]) {
          await commit(world, shop(number), DAY);
          await pollTo(world, "succeeded");
        }
        await world.stop();
        if (isFirst) interrupt(world, 2);
        await other.adopt();
        if (isFirst) assert.equal(open(world), 0);
        else interrupt(world, 2);
        world.fake?.setBehaviour("web", { health: "starting" });
        await world.restart();
        await until(() => open(world) === 0);
        assertEnded(world);
        assert.deepEqual((await webs(world)).map(({ number }) => number), ["1"]);
        world.fake?.setBehaviour("web", { health: "healthy" });
        await other.deploy("succeeded");
      }));
  }
});

describe("what a former owner's deployment had stopped when it was handed over", () => {
  it("is started for the new owner, also where that one's files are those that run", () =>
    withOther(async (world, other) => {
      world.fake?.setBehaviour("db", { stopsWith: 0 });
      const release = (number: string) => shop(number, { db: service() });
      const { run } = await hanging(world, release);
      const ended = run.catch(() => {});
      await world.stop();
      await ended;
      // As the deployment does with a service that it replaces, or that waits for another.
      await docker(world, "stop", `${world.stack}-db-1`);
      await other.adopt();
      await world.restart();
      world.fake?.setBehaviour("web", { health: "healthy" });
      await turn(world, "healthy");
      const files = release("2");
      await commandTo(world, 2, ["plan", await other.commit(files)]);
      assert.match(await other.deploy("succeeded", files), /start db/);
      assert.equal((await states(world))["db-1"], "running");
      await docker(world, "stop", `${world.stack}-db-1`);
      await other.deploy("skipped", files);
    }));
});

describe("a hook of a stack's former owner, which its compose was cut off from", () => {
  const never = new AbortController().signal;
  const version = "com.docker.compose.version";
  const own = (world: World) => ({ "com.docker.compose.project": world.stack });
  const hooks = async (world: World) =>
    (await world.engine.listContainers({ ...own(world), [version]: "5.5.0" }, never)).length;
  const makeHook = async (world: World) => {
    const Labels = { ...own(world), "com.docker.compose.service": "web", [version]: "5.5.0" };
    const quiet = { AttachStdout: false, AttachStderr: false, Env: [], HostConfig: {} };
    const body = { ...quiet, Image: IMAGE, Cmd: ["sleep", "3600"], Labels };
    const wish = { name: `${world.stack}-hook`, platform: "", body, connect: {} };
    await world.engine.startContainer(await world.engine.makeContainer(wish, never), never);
    assert.equal(await hooks(world), 1);
  };
  const files = { "compose.yaml": composeFile({ web: service() }) };

  for (const engine of ENGINES) {
    it(`ends with the new owner's files, also where they are those that run, on the ${engine} engine`, () =>
      withOther(async (world, other) => {
        await commit(world, files, DAY);
        await pollTo(world, "succeeded");
        await makeHook(world);
        await other.adopt();
        await commandTo(world, 0, ["plan", await other.commit(files)]);
        assert.equal(await hooks(world), 1);
        await other.deploy("skipped", files);
        assert.equal(await hooks(world), 0);
        assert.deepEqual(await states(world), { "web-1": "running" });
      }, engine));
  }

  it("ends although no release was deployed when it was handed over, where the files are the same", () =>
    withOther(async (world, other) => {
      await commit(world, files, DAY);
      await pollTo(world, "succeeded");
      await makeHook(world);
      await world.stop();
      interrupt(world, 1);
      const database = new DatabaseSync(join(world.dataDir, "state.db"));
      database.exec("DELETE FROM stacks");
      database.close();
      await other.adopt();
      await commandTo(world, 0, ["apply", await other.commit(files)]);
      assert.equal(await hooks(world), 0);
      assert.deepEqual(await states(world), { "web-1": "running" });
      await world.restart();
    }));

  it("ends with the new owner's next look, also while a person holds the stack", () =>
    withOther(async (world, other) => {
      await commit(world, files, DAY);
      await pollTo(world, "succeeded");
      await makeHook(world);
      await other.adopt();
      await commandTo(world, 0, ["hold", world.stack]);
      // Not that of its former owner.
      await world.poll();
      assert.equal(await hooks(world), 1);
      await other.deploy("skipped", shop("theirs"));
      assert.equal(await hooks(world), 0);
      // Once: what comes later is nobody's whom it was handed over from.
      await makeHook(world);
      await other.deploy("skipped");
      assert.equal(await hooks(world), 1);
      await other.adopt();
      await other.deploy("skipped");
      assert.equal(await hooks(world), 0);
    }));

  it("ends at the start of the service, although the new owner's repository is not looked at", () =>
    withOther(async (world, other) => {
      await commit(world, files, DAY);
      await pollTo(world, "succeeded");
      await makeHook(world);
      await world.stop();
      await other.adopt();
      assert.equal(await hooks(world), 1);
      await world.restart();
      await until(async () => await hooks(world) === 0);
      assert.deepEqual(await states(world), { "web-1": "running" });
    }));
});

describe("a run of a job of a stack's former owner", () => {
  const withJob = (labels: Part, web = service()) => {
    const own = {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "0 0 1 1 *",
      "stackwright.job.execution_mode": "one_off",
      ...labels,
    };
    return { "compose.yaml": composeFile({ web, backup: service({ labels: own }) }) };
  };
  const run = async (world: World, query = "") => {
    const path = `/v1/api/job/${world.stack}-backup-1/run${query}`;
    const answer = await world.request(path, { method: "POST" });
    return await answer.text();
  };
  const runs = () => ({ "stackwright.job.run": undefined });
  const running = async (world: World) => {
    const all = await world.engine.listContainers(runs(), new AbortController().signal);
    return all.filter(({ state }) => state === "running").length;
  };

  const endRun = async (world: World) => {
    const all = await world.engine.listContainers(runs(), new AbortController().signal);
    for (const { id, state } of all) if (state === "running") world.fake?.crash(id, 0);
  };

  const STOPS = { "stackwright.job.stop_services": "web" };
  for (
    const [title, labels] of [["that keeps services stopped", STOPS], ["beside them", {}]] as const
  ) {
    it(`${title} ends at the hand-over, and is not run again`, () =>
      withOther(async (world, other) => {
        // Also of the same files: what a run has stopped is started by the deployment.
        const files = withJob(labels);
        const theirs = labels === STOPS ? files : withJob({ other: "yes" });
        await commit(world, files, DAY);
        await pollTo(world, "succeeded");
        await run(world, "?wait=false");
        await until(async () => await running(world) === 1);
        await other.adopt();
        await until(async () => await running(world) === 0);
        await other.deploy("succeeded", theirs);
        assert.deepEqual(await states(world), { "web-1": "running", "backup-1": "created" });
        const answer = await world.request("/v1/api/runs?trigger=scheduled_job");
        assert.match(await answer.text(), /"status":"failed".*was handed over to /);
      }));
  }

  for (
    const [title, theirs, expected] of [
      // The same service, which is no job any more.
      ["deployment", {
        "compose.yaml": composeFile({ web: service(), backup: service() }),
      }, "running"],
      ["files, also where they are those that run,", withJob({}), "created"],
    ] as const
  ) {
    it(`ends with the new owner's ${title} where the process that began it left it under way`, () =>
      withOther(async (world, other) => {
        await commit(world, withJob({}), DAY);
        await pollTo(world, "succeeded");
        await run(world, "?wait=false");
        await until(async () => await running(world) === 1);
        await world.stop();
        assert.equal(await running(world), 1);
        await other.adopt();
        const url = await other.commit(theirs);
        await commandTo(world, expected === "created" ? 0 : 2, ["plan", url]);
        assert.equal(await running(world), 1);
        await commandTo(world, 0, ["apply", url]);
        assert.equal(await running(world), 0);
        assert.deepEqual(await states(world), { "web-1": "running", "backup-1": expected });
        await world.restart();
      }));
  }

  /** A run of the world's stack that its process has left, with a service of another stack stopped. */
  const leftRun = async (world: World) => {
    const beside = `${world.stack}b`;
    const files = {
      ...withJob({ "stackwright.job.stop_services": `${beside}/other` }),
      "b/compose.yaml": composeFile({ other: service() }),
    };
    const [own, another] = [{ name: world.stack }, { name: beside, working_dir: "b" }];
    await world.repository.commit({ ".stackwright.yaml": configFile(own, another), ...files });
    await pollTo(world, "succeeded");
    await run(world, "?wait=false");
    await until(async () => await running(world) === 1);
    assert.deepEqual(await states(world, beside), { "other-1": "exited" });
    await world.stop();
    assert.equal(await running(world), 1);
    const wanted = (more: Part) =>
      world.repository.commit({ ".stackwright.yaml": configFile({ ...own, ...more }) });
    return { beside, wanted };
  };

  for (const engine of ENGINES) {
    it(`has what it stopped in another stack started when it ends, on the ${engine} engine`, () =>
      withOther(async (world, other) => {
        const { beside } = await leftRun(world);
        await other.adopt();
        await commandTo(world, 0, ["apply", await other.commit(shop("theirs"))]);
        assert.equal(await running(world), 0);
        assert.deepEqual(await states(world, beside), { "other-1": "running" });
        assert.deepEqual(await states(world), { "web-1": "running" });
        await world.restart();
      }, engine));
  }

  it("leaves down what was handed over as well", () =>
    withOther(async (world, other) => {
      const { beside } = await leftRun(world);
      await other.adopt();
      const url = await other.commit(shop("theirs"));
      const to = ["--source", url, "--reference", "main"];
      await commandTo(world, 0, ["adopt", beside, ...to]);
      await commandTo(world, 0, ["apply", url]);
      assert.equal(await running(world), 0);
      assert.deepEqual(await states(world, beside), { "other-1": "exited" });
      await world.restart();
    }));

  it("has what it stopped in another stack started when its own stack is destroyed", () =>
    inWorld("fake", async (world) => {
      const { beside, wanted } = await leftRun(world);
      await wanted({ destroy: true });
      await commandTo(world, 0, ["apply", world.repository.url]);
      assert.deepEqual(await states(world), {});
      assert.deepEqual(await states(world, beside), { "other-1": "running" });
      await world.restart();
    }));

  it("is not one that the new owner began, whose files are the same", () =>
    withOther(async (world, other) => {
      const files = withJob({});
      await commit(world, files, DAY);
      await pollTo(world, "succeeded");
      await other.adopt();
      await other.deploy("skipped", files);
      await run(world, "?wait=false");
      await until(async () => await running(world) === 1);
      await other.deploy("succeeded", {
        ".stackwright.yaml": configFile({ name: world.stack, wait_running_jobs: false }),
        ...withJob({}, service({ labels: { number: "2" } })),
      });
      assert.equal(await running(world), 1);
      await endRun(world);
      await until(async () => await running(world) === 0);
    }));

  const RESTART = { "stackwright.job.execution_mode": "restart" };
  for (const engine of ENGINES) {
    it(`ends at the hand-over also in the job's own container, on the ${engine} engine`, () =>
      withOther(async (world, other) => {
        const files = withJob({ ...STOPS, ...RESTART });
        await commit(world, files, DAY);
        await pollTo(world, "succeeded");
        await run(world, "?wait=false");
        await until(async () => (await states(world))["backup-1"] === "running");
        assert.equal((await states(world))["web-1"], "exited");
        await other.adopt();
        await until(async () => (await states(world))["backup-1"] === "exited");
        await other.deploy("succeeded", files);
        assert.deepEqual(await states(world), { "web-1": "running", "backup-1": "exited" });
      }, engine));
  }

  it("ends with the new owner's next look where nothing waits for the end of the job's own container", () =>
    withOther(async (world, other) => {
      const files = withJob(RESTART);
      await commit(world, files, DAY);
      await pollTo(world, "succeeded");
      assert.match(await run(world), /triggered/);
      await until(async () => (await states(world))["backup-1"] === "running");
      await other.adopt();
      await commandTo(world, 0, ["hold", world.stack]);
      assert.equal((await states(world))["backup-1"], "running");
      await other.deploy("skipped", files);
      assert.deepEqual(await states(world), { "web-1": "running", "backup-1": "exited" });
      await commandTo(world, 0, ["resume", world.stack]);
      await other.deploy("skipped", files);
      // The new owner's own goes on.
      assert.match(await run(world), /triggered/);
      await until(async () => (await states(world))["backup-1"] === "running");
      await other.deploy("skipped", files);
      assert.equal((await states(world))["backup-1"], "running");
    }));

  it("is refused before the new owner has deployed", () =>
    withOther(async (world, other) => {
      await commit(world, withJob(STOPS), DAY);
      await pollTo(world, "succeeded");
      await other.adopt();
      assert.match(await run(world), /was handed over to /);
      assert.equal((await states(world))["web-1"], "running");
    }));

  it("is refused while a person holds it, until the release that runs is the new owner's, too", () =>
    withOther(async (world, other) => {
      await commit(world, withJob(STOPS), DAY);
      await pollTo(world, "succeeded");
      await other.adopt();
      await commandTo(world, 0, ["hold", world.stack, "--reason", "it moves"]);
      assert.match(await run(world), /was handed over to /);
      const url = await other.commit(withJob(STOPS));
      const moved = ["adopt", world.stack, "--source", url, "--releases-of", world.repository.url];
      await commandTo(world, 0, moved);
      await run(world, "?wait=false");
      await until(async () => await running(world) === 1);
      await until(async () => (await states(world))["web-1"] === "exited");
      await endRun(world);
      await until(async () => {
        const answer = await world.request("/v1/api/runs?trigger=scheduled_job");
        return /"status":"succeeded"/.test(await answer.text());
      });
      assert.equal((await states(world))["web-1"], "running");
    }));
});
