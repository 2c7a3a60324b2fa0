import assert from "node:assert/strict";
import process from "node:process";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { createFailingGit, type FailingGit } from "../fakes/failing_git.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import { createRepository, type FakeFile } from "../fakes/git_repository.ts";
import { isSample } from "../fakes/sample.ts";
import { command } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { readInside } from "./steps.ts";
import { createWorld, IMAGE, type World } from "./world.ts";

/**
 * One failing call, at every place where there is a call: by error, by a connection cut after the engine
 * acted, and by no answer at all. The ordinary run fails the calls that change something, which is
 * where half-done work can be left: in every way, git too, in the scenarios that say so, and in one
 * way after the other in the rest; of reading calls a sample. `SWEEP=full` does everything everywhere,
 * which takes half an hour.
 */
const FULL = process.env["SWEEP"] === "full";
/** A sample breaks every sixteenth call only: ./scripts/test has ten minutes, and the gate breaks each. */
const EVERY = isSample ? 16 : 1;
/** A sample has one scenario of each three, and those that are thorough. */
const isSampled = ({ thorough = false }: Scenario, index: number) =>
  !isSample || thorough || index % 3 === 0;
/** Where a scenario makes many calls alike, or reading ones are broken too. */
const SELDOM = isSample ? 28 : 3;
const KINDS = ["error", "cut", "timeout"] as const;
type Kind = (typeof KINDS)[number];
/** Worlds at the same time: most of their time is waiting. */
const AT_ONCE = 3;
const never = new AbortController().signal;

type Files = Readonly<Record<string, FakeFile>>;
/** What runs: value of the label `v` by service, and what a mounted file says where one is watched. */
type Running = Readonly<Record<string, string>>;

interface Scenario {
  readonly name: string;
  /** Deployed one after the other before anything is broken. */
  readonly earlier: readonly Files[];
  /** Committed before the step that is broken. */
  readonly next?: Files;
  /** The step; a poll by default. */
  readonly step?: (world: World, git: FailingGit) => Promise<unknown>;
  /** Content of the file in the submodule `mod`: deployed before anything is broken, and in the step. */
  readonly library?: readonly [string, string];
  /** Path of a file in the container of `web` that is read too. */
  readonly watched?: string;
  /** Whether every third of all calls fails in the ordinary run, reading ones and pulls among them. */
  readonly reads?: boolean;
  /**
   * Whether only every third of the calls fails in the ordinary run: it makes many alike, or it is also killed
   * at its changes (the table in test/e2e/crash_test.ts).
   */
  readonly sparse?: boolean;
  /** What runs before it, and what shall run in the end. */
  readonly before: Running;
  readonly after: Running;
  /** Whether the ordinary run fails each call in every way, and git as well. */
  readonly thorough?: boolean;
  /** Whether the step ends with what ran before, however often it is repeated. */
  readonly fails?: boolean;
  /** Whether the engine manages a swarm, so that it is a stack. */
  readonly swarm?: boolean;
}

const BROKEN = "stackwright-test/broken:1";
const OTHER = "stackwright-test/other:1";
const web = (v: string, more: Part = {}) => service({ labels: { v }, ...more });
const worker = service({ labels: { v: "w" } });
const compose = (services: Readonly<Record<string, Part>>, rest: Part = {}): Files => ({
  "compose.yaml": composeFile(services, { volumes: { data: {} }, ...rest }),
});
const page = { volumes: ["./page.txt:/page.txt:ro"] };
/** It has data in a volume that nobody named, which whoever takes its place has to get. */
const unnamed = { volumes: ["/anonymous"] };
const FIRST = compose({ web: web("1", unnamed), worker });
const SECOND = compose({ web: web("2", unnamed), worker });

/** A service that ends by itself. */
const JOB = "migrate";
const COMPLETED = "service_completed_successfully";
const handed = { ports: ["127.0.0.1:8080:80"], volumes: ["data:/data"] };

/** Replaced while the one before still serves. */
const rolled = {
  healthcheck: { test: ["CMD", "true"] },
  deploy: { update_config: { order: "start-first" } },
};

const linked = { site: { link: "real" } };
/** What `db` and `web` are in is made anew when it becomes internal. */
const inner = (internal: boolean, v: string): Files => ({
  "compose.yaml": composeFile({
    db: service({ labels: { v: "d" }, networks: ["inner"] }),
    web: web(v, { networks: ["inner"], volumes: ["./site:/site"], depends_on: ["db"] }),
  }, { networks: { inner: { internal } } }),
});

/** `web` is built, and waits for two others that change with it. */
const built = (v: string): Files => {
  const { image: _image, ...own } = web(v, {
    build: "./app",
    depends_on: {
      cache: { condition: "service_started", restart: true },
      db: { condition: "service_healthy" },
    },
  });
  const healthcheck = { test: ["CMD", "true"], interval: "300ms" };
  const services = { cache: web(v), db: web(v, { healthcheck }), web: own };
  return { ...compose(services), "app/Dockerfile": `FROM ${IMAGE}\n`, "app/page.txt": v };
};
const module = { volumes: ["./mod/page.txt:/module.txt:ro"] };
const lan = { networks: { lan: { ipam: { config: [{ subnet: "10.99.0.0/28" }] } } } };
const fixed = { networks: { lan: { ipv4_address: "10.99.0.9" } } };

/** A stack: `web` has a config and a secret, which are other objects when `v` is another one. */
const stack = (
  v: string,
  more: Part = {},
  others: Readonly<Record<string, Part>> = { worker },
) => ({
  ...compose({
    web: web(v, { configs: ["page"], secrets: ["key"], deploy: { replicas: 2 }, ...more }),
    ...others,
  }, {
    configs: { page: { file: "page.txt" } },
    secrets: { key: { file: "key.txt" } },
  }),
  "page.txt": `page ${v}`,
  "key.txt": `key ${v}`,
});

/** What runs as containers and as a stack. */
const made = (v: string, more: Part = {}) => compose({ web: web(v, more), worker });

const SCENARIOS: readonly Scenario[] = [
  {
    name: "a first deployment",
    earlier: [],
    next: FIRST,
    before: {},
    after: { web: "1", worker: "w" },
  },
  {
    name: "a change of one service",
    thorough: true,
    earlier: [FIRST],
    next: SECOND,
    before: { web: "1", worker: "w" },
    after: { web: "2", worker: "w" },
  },
  {
    name: "a change of a mounted file",
    earlier: [{ ...compose({ web: web("1", page), worker }), "page.txt": "one" }],
    next: { "page.txt": "two" },
    watched: "/page.txt",
    before: { web: "1", worker: "w", "/page.txt": "one" },
    after: { web: "1", worker: "w", "/page.txt": "two" },
  },
  {
    name: "a change of an image",
    reads: true,
    earlier: [FIRST],
    next: compose({ web: web("2", { ...unnamed, image: OTHER }), worker }),
    before: { web: "1", worker: "w" },
    after: { web: "2", worker: "w" },
  },
  {
    name: "a removal of a service",
    earlier: [FIRST],
    next: compose({ web: web("1", unnamed) }),
    before: { web: "1", worker: "w" },
    after: { web: "1" },
  },
  {
    name: "a release that is rolled back",
    earlier: [FIRST],
    next: compose({
      web: web("2", { ...unnamed, image: BROKEN, restart: "always" }),
      worker,
    }),
    before: { web: "1", worker: "w" },
    after: { web: "1", worker: "w" },
    fails: true,
  },
  {
    name: "a rollback by command",
    earlier: [FIRST, SECOND],
    step: (world, git) => command(world, ["rollback", world.stack], { commands: git }),
    before: { web: "2", worker: "w" },
    after: { web: "1", worker: "w" },
  },
  {
    name: "a rename with a port that waits for a job",
    sparse: true,
    earlier: [compose({ old: web("1", handed), worker })],
    next: compose({
      [JOB]: service({ command: ["true"] }),
      new: web("2", { ...handed, depends_on: { [JOB]: { condition: COMPLETED } } }),
      worker,
    }),
    before: { old: "1", worker: "w" },
    after: { new: "2", worker: "w" },
  },
  {
    name: "a port that goes to a service its old holder shares the network of",
    sparse: true,
    earlier: [compose({ app: web("1", handed), worker })],
    next: compose({
      app: web("2", { network_mode: "service:vpn" }),
      vpn: service({ ...handed, labels: { v: "p" } }),
      worker,
    }),
    before: { app: "1", worker: "w" },
    after: { app: "2", vpn: "p", worker: "w" },
  },
  {
    name: "a file behind a link, and a network that is to be another one",
    sparse: true,
    earlier: [{ ...inner(false, "1"), ...linked, "real/page.txt": "one" }],
    next: { ...inner(true, "2"), "real/page.txt": "two" },
    watched: "/site/page.txt",
    before: { db: "d", web: "1", "/site/page.txt": "one" },
    after: { db: "d", web: "2", "/site/page.txt": "two" },
  },
  {
    name: "a build of what waits for a replaced service to be healthy, and for another to run",
    sparse: true,
    earlier: [built("1")],
    next: built("2"),
    before: { cache: "1", db: "1", web: "1" },
    after: { cache: "2", db: "2", web: "2" },
  },
  {
    name: "a file in a submodule, and a rename with a fixed address",
    sparse: true,
    earlier: [compose({ old: web("1", fixed), web: web("1", module) }, lan)],
    next: compose({ new: web("2", fixed), web: web("1", module) }, lan),
    library: ["one", "two"],
    watched: "/module.txt",
    before: { old: "1", web: "1", "/module.txt": "one" },
    after: { new: "2", web: "1", "/module.txt": "two" },
  },
  {
    name: "a start-first update",
    earlier: [compose({ web: web("1", rolled), worker })],
    next: compose({ web: web("2", rolled), worker }),
    before: { web: "1", worker: "w" },
    after: { web: "2", worker: "w" },
  },
  {
    name: "a destroy",
    earlier: [FIRST],
    next: { "destroy": "true" },
    before: { web: "1", worker: "w" },
    after: {},
  },
  {
    name: "an update of a stack",
    swarm: true,
    earlier: [stack("1")],
    next: stack("2", {}, { worker, shop: web("s") }),
    before: { web: "1", worker: "w" },
    after: { web: "2", worker: "w", shop: "s" },
  },
  {
    name: "a release of a stack that is rolled back",
    swarm: true,
    earlier: [stack("1")],
    next: stack("2", { image: BROKEN }, { worker, shop: web("s") }),
    before: { web: "1", worker: "w" },
    after: { web: "1", worker: "w" },
    fails: true,
  },
  {
    name: "a removal of a service of a stack",
    swarm: true,
    earlier: [stack("1")],
    next: stack("1", {}, {}),
    before: { web: "1", worker: "w" },
    after: { web: "1" },
  },
  {
    name: "a stack that becomes containers",
    swarm: true,
    sparse: true,
    earlier: [made("1")],
    next: { ...made("2"), swarm: "false" },
    before: { web: "1", worker: "w" },
    after: { web: "2", worker: "w" },
  },
  {
    name: "containers that become a stack, and are put back",
    swarm: true,
    sparse: true,
    earlier: [{ ...made("1"), swarm: "false" }],
    next: made("2", { image: BROKEN }),
    before: { web: "1", worker: "w" },
    after: { web: "1", worker: "w" },
    fails: true,
  },
];

for (const scenario of SCENARIOS.filter(isSampled)) {
  describe(`one failing call in ${scenario.name}`, () => {
    it("of the engine leaves the old or the new release, and it converges", async () => {
      const among = FULL || scenario.reads === true ? "all" : "mutating";
      const calls = await count(
        scenario,
        ({ proxy }) => among === "mutating" ? proxy.mutations() : proxy.calls.length,
      );
      assert.ok(calls > 0, "the scenario makes no call that could fail");
      const hangs = FULL || scenario.thorough === true;
      const all = hangs ? KINDS : KINDS.filter((kind) => kind !== "timeout");
      await everyFault(
        all,
        FULL || scenario.thorough === true ? "each" : "in turn",
        places(calls, !FULL && (scenario.reads ?? scenario.sparse) === true ? SELDOM : EVERY),
        (kind, at) =>
          survive(scenario, { kind, at }, ({ proxy }) => proxy.reset({ kind, at, among })),
      );
    });
    if (!FULL && scenario.thorough !== true) return;
    it("of git touches nothing, and it converges", async () => {
      const commands = await count(scenario, (_world, git) => git.count);
      assert.ok(commands > 0, "the scenario runs no command that could fail");
      await everyFault(
        KINDS,
        FULL ? "each" : "in turn",
        places(commands, EVERY),
        (kind, at) => survive(scenario, { kind, at }, (_world, git) => git.reset({ kind, at })),
      );
    });
  });
}

/** Numbers of the calls to break, from 1: each one, or every `step`-th. */
function places(calls: number, step: number): number[] {
  return Array.from({ length: Math.ceil(calls / step) }, (_each, index) => 1 + index * step);
}

/** Every kind of fault at every place, or one kind at each in turn; some of them at the same time. */
async function everyFault(
  kinds: readonly Kind[],
  how: "each" | "in turn",
  numbers: readonly number[],
  check: (kind: Kind, at: number) => Promise<void>,
): Promise<void> {
  const faults = how === "in turn"
    ? numbers.map((at, index) => ({ kind: kinds[index % kinds.length] ?? "error", at }))
    : kinds.flatMap((kind) => numbers.map((at) => ({ kind, at })));
  const next = async (): Promise<void> => {
    for (let fault = faults.shift(); fault !== undefined; fault = faults.shift()) {
      await check(fault.kind, fault.at);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

async function count(
  scenario: Scenario,
  read: (world: World, git: FailingGit) => number,
): Promise<number> {
  return await inScenario(scenario, PATIENT, async (world, git) => {
    await perform(world, scenario, git);
    assert.deepEqual(await running(world, scenario.watched), scenario.after);
    return read(world, git);
  });
}

async function survive(
  scenario: Scenario,
  fault: { readonly kind: Kind; readonly at: number },
  breaks: (world: World, git: FailingGit) => void,
): Promise<void> {
  const where = `${scenario.name}, call ${fault.at}, ${fault.kind}`;
  await inScenario(scenario, fault.kind === "timeout" ? SHORT : PATIENT, async (world, git) => {
    const data = volumes(world);
    breaks(world, git);
    await perform(world, scenario, git);
    world.proxy.reset();
    git.reset();
    // A destroy and a first deployment have nothing to go back to.
    const left = size(await running(world, scenario.watched));
    const wanted = Math.min(...[scenario.before, scenario.after].map(size));
    assert.ok(left >= wanted, `${where}: ${left} of ${wanted} services run`);
    if (recoversByRestart(fault)) await world.restart();
    await recover(world, scenario, where);
    const now = await running(world, scenario.watched);
    const others = (await world.containers()).filter((each) =>
      each.state !== "running" && each.service !== JOB
    );
    assert.deepEqual(others.map((each) => each.name), [], `${where}: left over`);
    const either = scenario.step === undefined
      ? [scenario.after]
      : [scenario.after, scenario.before];
    assert.ok(either.some((each) => same(each, now)), `${where}: ${JSON.stringify(now)} runs`);
    const kept = volumes(world);
    if (data !== undefined && kept !== undefined) {
      assert.deepEqual(kept, data, `${where}: other data`);
    }
    world.proxy.reset();
    await world.poll();
    if (scenario.fails !== true) {
      assert.equal(world.proxy.mutations(), 0, `${where}: not at rest after it converged`);
    }
  });
}

/** Half of the faults are followed by a restart, so that what is left open is finished at a start. */
function recoversByRestart({ kind, at }: { readonly kind: Kind; readonly at: number }): boolean {
  return (at + KINDS.indexOf(kind)) % 2 === 0;
}

/** What an operator sees next: another poll; what fails by itself fails again, and is put back again. */
async function recover(world: World, scenario: Scenario, where: string): Promise<void> {
  const { run } = await world.poll();
  const expected = scenario.fails === true ? ["failed"] : ["succeeded", "skipped"];
  assert.ok(expected.includes(run.status), `${where}: did not converge: ${JSON.stringify(run)}`);
}

/** Seconds of a deployment: what hangs is waited for that long. */
const [SHORT, PATIENT] = [6, 60];

async function inScenario<T>(
  scenario: Scenario,
  timeout: number,
  work: (world: World, git: FailingGit) => Promise<T>,
): Promise<T> {
  const git = createFailingGit(createFakeBuilder());
  const world = await createWorld({ engine: "fake", commands: git });
  try {
    world.fake?.addImage(BROKEN, { where: "both", onStart: { exit: 3, afterMs: 0 } });
    world.fake?.addImage(OTHER, { where: "registry" });
    world.fake?.setBehaviour(JOB, { exit: 0, afterMs: 0 });
    if (scenario.swarm === true) world.fake?.becomeManager();
    const { library } = scenario;
    const pin = library === undefined ? undefined : await submodule(world);
    if (library !== undefined) await pin?.(library[0]);
    for (const files of scenario.earlier) {
      await commit(world, timeout, files);
      const { run } = await world.poll();
      assert.equal(run.status, "succeeded", JSON.stringify(run));
    }
    if (library !== undefined) await pin?.(library[1]);
    if (scenario.next !== undefined) await commit(world, timeout, scenario.next);
    world.proxy.reset();
    git.reset();
    return await work(world, git);
  } finally {
    await world.close();
  }
}

/** Gives the repository a submodule `mod`; returns what pins it to a commit with a content. */
async function submodule(world: World): Promise<(content: string) => Promise<unknown>> {
  const library = await createRepository(join(dirname(world.repository.path), "lib"));
  return async (content) => {
    const id = await library.commit({ "page.txt": content });
    return await world.repository.submodule("mod", "../lib/remote.git", id);
  };
}

async function perform(world: World, scenario: Scenario, git: FailingGit): Promise<void> {
  await (scenario.step ?? ((each) => each.poll()))(world, git);
}

async function commit(
  world: World,
  timeout: number,
  { destroy, swarm, ...files }: Files,
): Promise<void> {
  await world.repository.commit({
    ...files,
    ".stackwright.yaml": configFile({
      name: world.stack,
      prune_images: false,
      timeout,
      ...(destroy === undefined ? {} : { destroy: true }),
      ...(swarm === undefined ? {} : { swarm: { enabled: false } }),
    }),
  });
}

/** Fails where a service has more than one container, which no scenario wants. */
async function running(world: World, watched?: string): Promise<Running> {
  const stack = world.fake?.isManager() === true ? await runningServices(world) : {};
  const containers = (await world.containers()).filter((each) => each.state === "running");
  const services = containers.map((each) => each.service);
  assert.equal(new Set(services).size, services.length, `duplicates: ${services.join(", ")}`);
  const both = services.filter((each) => stack[each] !== undefined);
  assert.deepEqual(both, [], "in both modes");
  const found: Running = {
    ...stack,
    ...Object.fromEntries(containers.map((each) => [each.service, each.labels["v"] ?? ""])),
  };
  if (watched === undefined || found["web"] === undefined) return found;
  return { ...found, [watched]: await readInside(world, "web", watched) };
}

/** The same of a stack: services as many of whose tasks run as each wants, and no one of before. */
async function runningServices(
  { engine, stack: name }: World,
): Promise<Running> {
  const label = { "com.docker.stack.namespace": name };
  const services = await engine.swarm.services(label, never);
  const tasks = await engine.swarm.tasks(label, never);
  const found = services.flatMap((each) => {
    const wanted = each.mode.kind === "replicated" ? each.mode.replicas : 1;
    const alive = tasks.filter(({ serviceId, state }) =>
      serviceId === each.id && state === "running"
    );
    assert.ok(alive.length <= wanted, `${each.name} has ${alive.length} tasks`);
    const spec = each.spec as { TaskTemplate: { ContainerSpec: { Labels: { v: string } } } };
    const { v } = spec.TaskTemplate.ContainerSpec.Labels;
    return alive.length < wanted ? [] : [[each.name.slice(name.length + 1), v]];
  });
  return Object.fromEntries(found);
}

/** Names of the volumes of the container of `web`, one that nobody named among them. */
function volumes(world: World): readonly string[] | undefined {
  return world.fake?.containers().find((each) => each.service === "web")?.volumes;
}

function size(services: Running): number {
  return Object.keys(services).length;
}

function same(a: Running, b: Running): boolean {
  return size(a) === size(b) && Object.entries(a).every(([name, v]) => b[name] === v);
}
