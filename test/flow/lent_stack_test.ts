import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { abortable } from "../../src/system/mod.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, label, states } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, IMAGE, type RunBody, type World, worldCommands } from "./world.ts";

const APP = "registry.test/app:1";

/** A world in which a release runs, and the next one waits for a registry, or a build, that says nothing. */
interface Waiting {
  readonly world: World;
  /** How often compose was started to pull or build. */
  readonly begun: () => number;
  /** Lets the registry, or the build, come to its end; the end of the run. */
  readonly goOn: () => Promise<RunBody>;
}

const DOCKERFILE = { "app/Dockerfile": `FROM ${IMAGE}\n` };
const job = service({
  labels: { "stackwright.job.enabled": "true", "stackwright.job.schedule": "@yearly" },
});
const release = (v: string, image = IMAGE) => ({
  "compose.yaml": composeFile({ job, web: service({ labels: { v }, image }) }),
});
const built = (v: string) => ({
  ...DOCKERFILE,
  "compose.yaml": composeFile({
    web: { ...service({ labels: { v }, build: "./app" }), image: undefined },
  }),
});

/** Has the release after the first `releases` wait, and does something meanwhile. */
async function whileWaiting(
  next: Parameters<typeof commit>[1],
  meanwhile: (waiting: Waiting) => Promise<unknown>,
  { releases = 1, configuration = {} } = {},
): Promise<void> {
  const answers = Promise.withResolvers<void>();
  let begun = 0;
  let isSilent = false;
  const builder = createFakeBuilder(worldCommands);
  const run: typeof worldCommands.run = async (command, signal) => {
    const isIt = command.argv.some((each) => each === "pull" || each === "build");
    if (isSilent && isIt && !command.argv.includes("config")) {
      begun++;
      await abortable(answers.promise, signal);
    }
    return await builder.run(command, signal);
  };
  // Slow enough that a person's half minute, and the quarter of an hour of a pull, do not pass.
  const world = await createWorld({
    ...{ engine: "fake", commands: { ...worldCommands, run }, speed: 5 },
  });
  let runs: Promise<RunBody> | undefined;
  try {
    world.fake?.addImage(APP, { where: "registry" });
    world.fake?.setBehaviour("job", { exit: 0 });
    const given = { reconciliation: { events: ["destroy"] }, ...configuration };
    for (let number = 1; number <= releases; number++) {
      await commit(world, release(String(number)), given);
      assert.equal((await world.poll()).run.status, "succeeded");
    }
    isSilent = true;
    await commit(world, next, given);
    runs = world.poll().then(({ run }) => run);
    await until(() => begun > 0);
    const goOn = () => (answers.resolve(), runs!);
    await meanwhile({ world, begun: () => begun, goOn });
  } finally {
    answers.resolve();
    await runs?.catch(() => {});
    await world.close();
  }
}

/** Has somebody take the only container away, and waits until a repair has made another one. */
async function repaired(world: World): Promise<void> {
  const before = (await ids(world))["web-1"];
  await docker(world, "rm", "--force", `${world.stack}-web-1`);
  await until(async () => (await states(world))["web-1"] === "running");
  assert.notEqual((await ids(world))["web-1"], before);
}

/** What a person asks for; the status of the answer. */
async function asks(world: World, method: string, path: string): Promise<number> {
  const { status, body } = await world.request(path, { method });
  await body?.cancel();
  return status;
}

/** Whether a run has decided once more, by what runs then. */
const again = ({ lines }: World): boolean =>
  lines.some(({ message }) => /^a decision is outdated: deciding again/.test(message));

const project = (world: World, action = "") => `/v1/api/project/${world.stack}${action}`;

describe("a stack whose next release waits for a registry", () => {
  it("is repaired; the pull that came to its end is asked for no second time", () =>
    whileWaiting(release("2", APP), async ({ world, begun, goOn }) => {
      await repaired(world);
      assert.equal(await label(world, "web", "v"), "1");
      assert.equal((await goOn()).status, "succeeded");
      assert.equal(await label(world, "web", "v"), "2");
      assert.equal(begun(), 1);
      assert.ok(again(world));
    }, { configuration: { force_image_pull: true } }));

  it("is started and restarted as persons ask, and deployed after it", () =>
    whileWaiting(release("2", APP), async ({ world, goOn }) => {
      await docker(world, "kill", `${world.stack}-web-1`);
      assert.equal(await asks(world, "POST", project(world, "/start")), 200);
      assert.equal((await states(world))["web-1"], "running");
      assert.equal(await asks(world, "POST", project(world, "/restart")), 200);
      assert.equal(await label(world, "web", "v"), "1");
      assert.equal((await goOn()).status, "succeeded");
      assert.equal(await label(world, "web", "v"), "2");
      assert.ok(again(world));
    }));

  it("runs its jobs", () =>
    whileWaiting(release("2", APP), async ({ world, goOn }) => {
      const path = `/v1/api/job/${world.stack}-job-1/run?wait=true`;
      assert.equal(await asks(world, "POST", path), 200);
      assert.equal((await goOn()).status, "succeeded");
      assert.equal(await label(world, "web", "v"), "2");
    }));

  it("is stopped, which ends the preparation", () =>
    whileWaiting(release("2", APP), async ({ world, goOn }) => {
      assert.equal(await asks(world, "POST", project(world, "/stop")), 200);
      const { status, deployments } = await goOn();
      assert.equal(status, "failed");
      assert.match(deployments?.[0]?.message ?? "", /a person stops or removes/);
      await until(async () => (await states(world))["web-1"] === "exited");
      assert.equal(await label(world, "web", "v"), "1");
    }));

  it("is removed, which ends the preparation", () =>
    whileWaiting(release("2", APP), async ({ world, goOn }) => {
      assert.equal(await asks(world, "DELETE", project(world)), 200);
      assert.equal((await goOn()).status, "failed");
      assert.deepEqual(await ids(world), {});
    }));

  it("is rolled back, and what was prepared is not deployed over that", () =>
    whileWaiting(release("3", APP), async ({ world, goOn }) => {
      const path = `/v1/api/deployment/${world.stack}/rollback?wait=true`;
      assert.equal(await asks(world, "POST", path), 200);
      assert.equal(await label(world, "web", "v"), "1");
      const { deployments } = await goOn();
      assert.match(deployments?.[0]?.reason ?? "", /^paused: rolled back to release 1/);
      assert.equal(await label(world, "web", "v"), "1");
    }, { releases: 2 }));

  it("is held by a person, and what was prepared is not deployed", () =>
    whileWaiting(release("2", APP), async ({ world, goOn }) => {
      const path = `/v1/api/deployment/${world.stack}/hold`;
      assert.equal(await asks(world, "POST", path), 200);
      assert.equal((await goOn()).status, "skipped");
      assert.equal(await label(world, "web", "v"), "1");
    }));

  it("has one preparation at a time: that of a newer commit waits for its turn", () =>
    whileWaiting(release("2", APP), async ({ world, begun, goOn }) => {
      await commit(world, release("3", APP));
      const newer = world.poll({ deployments: [{ name: world.stack }] });
      const waits = new RegExp(`waiting for other work on ${world.stack}`);
      const said = async () =>
        waits.test(await (await world.request("/v1/api/runs?status=running")).text());
      await until(said);
      await repaired(world);
      assert.ok(await said());
      assert.equal(begun(), 1);
      await goOn();
      assert.equal((await newer).run.status, "succeeded");
      assert.equal(await label(world, "web", "v"), "3");
      assert.equal(begun(), 1);
    }));
});

describe("a stack that is changed whenever it is decided about", () => {
  it("is lent three times, and deployed at last", async () => {
    const answers: (number | "none")[] = [];
    const run: typeof worldCommands.run = async (command, signal) => {
      if (!command.argv.includes("pull")) return await worldCommands.run(command, signal);
      const restarted = asks(world, "POST", project(world, "/restart?timeout=600"));
      const isLast = answers.length === 3;
      // Where the stack is lent it is for everybody long before that.
      const late = isLast
        ? world.clock.sleep(30_000, signal).then(() => "none" as const)
        : undefined;
      answers.push(await (late === undefined ? restarted : Promise.race([restarted, late])));
      const pulled = await worldCommands.run(command, signal);
      // Somebody takes it away at once, so that each decision pulls.
      if (!isLast) await docker(world, "rmi", APP);
      return pulled;
    };
    const world: World = await createWorld({
      ...{ engine: "fake", commands: { ...worldCommands, run }, speed: 10 },
    });
    try {
      world.fake?.addImage(APP, { where: "registry" });
      await commit(world, release("1"));
      assert.equal((await world.poll()).run.status, "succeeded");
      await commit(world, release("2", APP));
      assert.equal((await world.poll()).run.status, "succeeded");
      assert.equal(await label(world, "web", "v"), "2");
      assert.deepEqual(answers, [200, 200, 200, "none"]);
    } finally {
      await world.close();
    }
  });
});

describe("a stack whose next release is built", () => {
  it("is repaired; what was built is found again", () =>
    whileWaiting(built("2"), async ({ world, begun, goOn }) => {
      await repaired(world);
      assert.equal(await label(world, "web", "v"), "1");
      assert.equal((await goOn()).status, "succeeded");
      assert.equal(await label(world, "web", "v"), "2");
      assert.equal(begun(), 1);
    }));
});
