import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Backend,
  Compose,
  composeBackend,
  pointTags,
  type ReleaseOnDisk,
  type Rollout,
  rollout,
  type RolloutParts,
  StackFiles,
} from "../../../src/deploy/mod.ts";
import {
  isStackwrightError,
  LABELS,
  type ObservedContainer,
  type ServicePlan,
  StackwrightError,
} from "../../../src/model/mod.ts";
import type { FailureAction } from "../../../src/deploy/update/update_config.ts";
import { decide } from "../../../src/plan/mod.ts";
import { type Clock, type Commands, type Files, systemFiles } from "../../../src/system/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { ALWAYS, releaseOf, serviceOf } from "./releases.ts";

const OLD: ReleaseOnDisk = {
  tree: "/trees/old",
  release: releaseOf("old", [serviceOf("db"), serviceOf("web"), serviceOf("gone")]),
};
const NEXT: ReleaseOnDisk = {
  tree: "/trees/next",
  release: releaseOf("next", [
    serviceOf("db"),
    serviceOf("web", { digest: "web-2" }),
    serviceOf("new"),
  ]),
};
const PLAN: readonly ServicePlan[] = [
  { name: "db", action: "keep", because: ["same"] },
  { name: "web", action: "recreate", because: ["changed"] },
  { name: "new", action: "create", because: ["new"] },
  { name: "gone", action: "remove", because: ["gone"] },
];

function made(service: string, digest: string, more: Partial<ObservedContainer> = {}) {
  return runningContainer("shop", service, {
    id: `${service}:${digest}`,
    labels: { [LABELS.manager]: "stackwright", [LABELS.digest]: digest },
    ...more,
  });
}

/** A world in which compose is a few lines: `up` makes what it is told to, as `next` says. */
function createWorld() {
  const engine = createMemoryEngine(
    ["db", "web", "gone"].map((name) => made(name, `${name}-1`)),
  );
  const events: string[] = [];
  const steps: string[] = [];
  /** How containers of a digest turn out; running unless said otherwise. */
  const outcome: Record<string, Partial<ObservedContainer>> = {};
  const world = { engine, events, steps, outcome, log: createRecordingLog(), onUp: () => {} };
  let onDisk: ReleaseOnDisk = NEXT;
  const commands: Commands = {
    run(command, signal) {
      signal.throwIfAborted();
      const args = command.argv.slice(command.argv.indexOf("up"));
      events.push(`up of ${onDisk.release.revision.id}: ${args.slice(1).join(" ")}`);
      world.onUp();
      const scales = args.flatMap((arg, index) =>
        args[index - 1] === "--scale" ? [arg.split("=")] : []
      );
      for (const [name = "", count] of scales) {
        if (args.includes("--force-recreate")) {
          engine.containers = engine.containers.filter((each) => each.service !== name);
        }
        const digest = onDisk.release.services.find((each) => each.name === name)?.digest ?? "";
        const exists = engine.containers.find((each) => each.service === name);
        engine.containers = engine.containers.filter((each) => each.service !== name);
        if (count === "0") continue;
        engine.containers.push({
          ...exists ?? made(name, digest),
          state: "running",
          ...outcome[digest],
        });
      }
      return Promise.resolve({ code: 0, stdout: new Uint8Array(), stderr: "" });
    },
    start: () => assert.fail(),
  };
  engine.onCall = (call) => events.push(call);
  const parts: RolloutParts = {
    engine,
    backend: composeBackend(
      new Compose({
        commands,
        programEnvironment: {},
        log: world.log,
        scratch: { files: systemFiles, prefix: "/nowhere/" },
      }),
    ),
    clock: createHastyClock(),
    slot: { leave: () => {}, takeAgain: () => Promise.resolve() },
    watchMs: 2000,
    log: world.log,
    progress: (step) => void steps.push(step),
    files: new StackFiles(createEventFiles(events), {
      stack: "/s",
      current: "/s/current",
      live: "/s/live",
    }),
    requireAllowed: () => Promise.resolve(),
    replan: (release, observed) =>
      decide({
        desired: release.services,
        observed,
        previous: release.services,
        policy: { removeOrphans: true },
        images: {},
      }).services,
    fetchImages: () => Promise.resolve(),
    call(which) {
      onDisk = which;
      return {
        project: { name: "shop", directory: "/s", files: ["-"], envFiles: [], profiles: [] },
        variables: {},
        model: which.release.model,
      };
    },
  };
  return Object.assign(world, { parts });
}

/** A clock on which every wait is over at once. */
function createHastyClock(): Clock {
  let now = 0;
  return {
    now: () => new Date(now),
    uptime: () => now,
    sleep(milliseconds, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      now += milliseconds;
      return Promise.resolve();
    },
  };
}

/** A disk that only notes where `current` leads. */
function createEventFiles(events: string[]): Files {
  const unused = () => assert.fail("not part of a switch");
  return {
    readIfExists: () => Promise.resolve(undefined),
    write: () => Promise.resolve(),
    writeInPlace: unused,
    readInPieces: unused,
    stat: () => Promise.resolve(undefined),
    list: () => Promise.resolve([]),
    listAtMost: () => Promise.resolve([]),
    holdDirectory: () => Promise.resolve(undefined),
    makeDirectory: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    removeOne: () => Promise.resolve(),
    removeEmpty: () => Promise.resolve(),
    rename: unused,
    link: unused,
    replaceLink(target) {
      events.push(`switch to ${target}`);
      return Promise.resolve();
    },
    readLink: unused,
    realPath: unused,
    chmod: unused,
    readPlain: unused,
    room: () => Promise.resolve(undefined),
    touch: unused,
    makeTemporaryDirectory: unused,
  };
}

function work(more: Partial<Rollout> = {}): Rollout {
  return {
    next: NEXT,
    services: PLAN,
    previous: OLD,
    ranBefore: ["db", "web", "gone"],
    liveNow: OLD.release.live,
    previousImages: {},
    timeoutSeconds: 10,
    rollback: true,
    ...more,
  };
}

const SIGNAL = new AbortController().signal;
const FLAGS = "--detach --no-deps --no-build --pull never";
const DEPLOYED = [
  "switch to ../trees/next",
  `up of next: ${FLAGS} --force-recreate --scale web=1 web`,
  `up of next: ${FLAGS} --no-recreate --scale new=1 new`,
];

function digests(world: ReturnType<typeof createWorld>): string[] {
  return world.engine.containers.map((each) => each.labels[LABELS.digest] ?? "").sort();
}

describe("rollout() that succeeds", () => {
  it("switches files, changes containers, and removes what is left over at the end", async () => {
    const world = createWorld();
    const result = await rollout(world.parts, work(), SIGNAL);
    assert.deepEqual(result, {
      kind: "deployed",
      images: { db: "sha256:db", web: "sha256:web", new: "sha256:new" },
    });
    assert.deepEqual(world.events, [...DEPLOYED, "stop gone:gone-1", "remove gone:gone-1"]);
    assert.deepEqual(digests(world), ["db-1", "new-1", "web-2"]);
  });

  it("makes services of what was built for them, whatever their names mean by then", async () => {
    const world = createWorld();
    // Another stack built something by the same name, and what was fetched lost its own.
    Object.assign(world.engine.images, { "web:1": "sha256:other", "sha256:mine": "sha256:mine" });
    const services = NEXT.release.services.map((each) => ({
      ...each,
      builds: each.name === "web",
    }));
    const next = { ...NEXT, release: { ...NEXT.release, services } };
    const images = { web: "sha256:mine", new: "sha256:mine" };
    await rollout(world.parts, work({ next, images }), SIGNAL);
    const [switched = "", up = "", other = ""] = DEPLOYED;
    const tags = ["tag sha256:mine web:1", "tag sha256:mine new:1"] as const;
    assert.deepEqual(world.events.slice(0, 5), [switched, tags[0], up, tags[1], other]);
  });

  it("lends its slot while it only watches, and has it again before it changes more", async () => {
    const world = createWorld();
    const slot = {
      leave: () => void (world.events.at(-1) === "lent" || world.events.push("lent")),
      takeAgain: () => Promise.resolve(void world.events.push("slot")),
    };
    await rollout({ ...world.parts, slot }, work(), SIGNAL);
    const removal = ["slot", "stop gone:gone-1", "remove gone:gone-1"];
    assert.deepEqual(world.events, ["slot", ...DEPLOYED, "lent", ...removal]);
  });

  it("does not wait for a slot when nothing is left to change after watching", async () => {
    const world = createWorld();
    world.engine.containers = world.engine.containers.filter((each) => each.service !== "gone");
    const services = PLAN.filter((each) => each.name !== "gone");
    let taken = 0;
    const slot = { leave: () => {}, takeAgain: () => Promise.resolve(void taken++) };
    const result = await rollout({ ...world.parts, slot }, work({ services }), SIGNAL);
    assert.deepEqual([result.kind, taken], ["deployed", 1]);
  });

  it("has its slot again before it puts the previous release back", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "exited", exitCode: 1 };
    const held: boolean[] = [];
    let holds = false;
    const slot = {
      leave: () => void (holds = false),
      takeAgain: () => Promise.resolve(void (holds = true)),
    };
    world.onUp = () => void held.push(holds);
    const result = await rollout({ ...world.parts, slot }, work(), SIGNAL);
    assert.equal(result.kind, "rolled_back");
    assert.deepEqual([...new Set(held)], [true]);
  });

  it("does not judge services that it leaves alone", async () => {
    const world = createWorld();
    world.engine.containers = world.engine.containers.map((each) =>
      each.service === "db" ? { ...each, health: "unhealthy" } : each
    );
    assert.equal((await rollout(world.parts, work(), SIGNAL)).kind, "deployed");
  });

  it("fails, and puts back what ran, when it breaks a service that it leaves alone", async () => {
    const world = createWorld();
    const release = (id: string, digest: string) =>
      releaseOf(id, [serviceOf("db", { digest }), serviceOf("web", { dependsOn: ["db"] })]);
    const next = { tree: "/trees/next", release: release("next", "db-2") };
    const services = ["db", "web"].map((name): ServicePlan => ({
      name,
      action: name === "db" ? "recreate" : "keep",
      because: ["so it is"],
    }));
    const breaks = (health: "unhealthy" | "healthy") => () => {
      world.engine.containers = world.engine.containers.map((each) =>
        each.service === "web" ? { ...each, health } : each
      );
      world.onUp = breaks("healthy");
    };
    world.onUp = breaks("unhealthy");
    const previous = { tree: "/trees/old", release: release("old", "db-1") };
    const result = await rollout(world.parts, work({ next, services, previous }), SIGNAL);
    assert.ok(result.kind === "rolled_back");
    assert.match(result.error.message, /is unhealthy; the release left web alone, but changed db,/);
    assert.deepEqual(
      digests(world),
      ["db-1", "gone-1", "web-1"].filter((each) => each !== "gone-1"),
    );
  });

  it("judges services that it leaves alone when it is asked to", async () => {
    const world = createWorld();
    world.engine.containers = world.engine.containers.map((each) =>
      each.service === "db" ? { ...each, health: "unhealthy" } : each
    );
    const result = await rollout(world.parts, work({ verify: ["db"], rollback: false }), SIGNAL);
    assert.equal(result.kind, "failed");
  });

  it("clears what an interrupted compose left half replaced before it begins", async () => {
    const world = createWorld();
    world.engine.containers.push(
      made("web", "web-2", {
        id: "half",
        name: "0123456789ab_shop-web-1",
        state: "created",
        labels: { "com.docker.compose.replace": "x" },
      }),
    );
    await rollout(world.parts, work(), SIGNAL);
    assert.equal(world.events[0], "remove half");
  });
});

describe("rollout() and services that deployments do not start", () => {
  const autostart = { ...ALWAYS, autostart: false };
  const next = {
    tree: "/trees/next",
    release: releaseOf("next", [
      serviceOf("web", { digest: "web-2", expectation: autostart }),
    ]),
  };
  const services: readonly ServicePlan[] = [
    { name: "web", action: "recreate", because: ["changed"] },
  ];

  it("rollout() does not judge one that did not run before, and does not start it", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "created" };
    const result = await rollout(world.parts, work({ next, services, ranBefore: [] }), SIGNAL);
    assert.equal(result.kind, "deployed");
    assert.ok(world.events.some((each) => each.includes("--no-start")), String(world.events));
  });

  it("rollout() starts and judges one that ran before", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "exited", exitCode: 4 };
    const given = work({ next, services, ranBefore: ["web"], rollback: false });
    const result = await rollout(world.parts, given, SIGNAL);
    assert.equal(result.kind, "failed");
    assert.ok(!world.events.some((each) => each.includes("--no-start")), String(world.events));
  });
});

describe("rollout() of an update that fails", () => {
  const deploy = { update_config: { order: "start-first" } };
  const model = { services: { web: { image: "web:1", network_mode: "none", deploy } } };
  const services: readonly ServicePlan[] = [
    { name: "web", action: "recreate", because: ["changed"] },
  ];
  const next = {
    tree: "/trees/next",
    release: releaseOf("next", [serviceOf("web", { digest: "web-2" })], { model }),
  };
  const fail = (action: FailureAction | undefined, rollback: boolean) => {
    const world = createWorld();
    const backend: Backend = {
      up({ mode, failed, call }, signal) {
        if (mode !== "roll") return world.parts.backend.up({ mode, call } as never, signal);
        const error = new StackwrightError("unhealthy", "web is no good");
        failed?.({ service: "web", error, action });
        return action === "continue" ? Promise.resolve() : Promise.reject(error);
      },
    };
    return rollout({ ...world.parts, backend }, work({ next, services, rollback }), SIGNAL);
  };

  const rows: readonly (readonly [FailureAction | undefined, boolean, string, RegExp])[] = [
    [undefined, true, "rolled_back", /was put back: no container had changed/],
    [undefined, false, "failed", /DEPLOY_ROLLBACK is off/],
    ["rollback", false, "rolled_back", /was put back/],
    ["pause", true, "failed", /failure_action is pause: left as it is/],
    ["continue", true, "failed", /failure_action is continue: left as it is/],
  ];
  for (const [action, rollback, kind, text] of rows) {
    it(`ends ${kind} with failure_action ${action}, DEPLOY_ROLLBACK ${rollback}`, async () => {
      const result = await fail(action, rollback);
      assert.equal(result.kind, kind);
      assert.ok(result.kind !== "deployed");
      assert.equal(result.error.message, "web is no good");
      assert.match(result.text, text);
    });
  }

  it("is none when the engine went away and all is well at the second attempt", async () => {
    const world = createWorld();
    let attempts = 0;
    const backend: Backend = {
      up({ failed }) {
        if (++attempts === 1) {
          const error = new StackwrightError("unhealthy", "web is no good");
          failed?.({ service: "web", error, action: "continue" });
          return Promise.reject(new StackwrightError("engine_unreachable", "it is away"));
        }
        world.engine.containers = [made("web", "web-2")];
        return Promise.resolve();
      },
    };
    const result = await rollout({ ...world.parts, backend }, work({ next, services }), SIGNAL);
    assert.deepEqual([result.kind, attempts], ["deployed", 2]);
  });

  it("lends its slot in the last step, when only old containers are left to end", async () => {
    const lent: string[] = [];
    const ofSteps: boolean[] = [];
    const world = createWorld();
    const backend: Backend = {
      up({ onEnding }) {
        ofSteps.push(onEnding !== undefined);
        onEnding?.();
        return Promise.resolve();
      },
    };
    const rules = { image: "web:1", network_mode: "none", deploy };
    const two = releaseOf("next", [
      serviceOf("api", { digest: "api-2" }),
      serviceOf("web", { digest: "web-2", dependsOn: ["api"] }),
    ], { model: { services: { api: { image: "web:1", network_mode: "none" }, web: rules } } });
    const slot = { leave: () => void lent.push("lent"), takeAgain: () => Promise.resolve() };
    const changed = ["api", "web"].map((name) => ({
      ...{ name, action: "recreate" as const, because: ["changed"] },
    }));
    const given = work({ next: { tree: "/trees/next", release: two }, services: changed });
    await rollout({ ...world.parts, backend, slot }, { ...given, rollback: false }, SIGNAL);
    assert.deepEqual(ofSteps, [false, true]);
    assert.equal(lent[0], "lent");
  });
});

describe("rollout() that fails", () => {
  it("tells every step, and each way back", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "exited", exitCode: 7 };
    await rollout(world.parts, work(), SIGNAL);
    assert.deepEqual([...new Set(world.steps)], [
      "replacing web",
      "starting new",
      "rolling back",
      "making sure that it stays healthy",
      "removing new",
    ]);
    assert.deepEqual(world.steps.filter((each) => each === "replacing web").length, 2);
  });

  it("puts the previous release back as a whole, and tells why it failed", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "exited", exitCode: 7 };
    const result = await rollout(world.parts, work(), SIGNAL);
    assert.equal(result.kind, "rolled_back");
    assert.ok(result.kind === "rolled_back" && isStackwrightError(result.error, "unhealthy"));
    assert.match(result.error.message, /^service web: .* stopped with exit code 7/);
    assert.equal(result.text, "the previous release was put back: restored web; removed new");
    assert.deepEqual(world.events, [
      ...DEPLOYED,
      "switch to ../trees/old",
      `up of old: ${FLAGS} --force-recreate --scale web=1 web`,
      "stop new:new-1",
      "remove new:new-1",
    ]);
    assert.deepEqual(digests(world), ["db-1", "gone-1", "web-1"]);
    assert.equal(world.log.lines.filter((each) => each.message === "rolling back").length, 1);
  });

  it("leaves the containers of a first deployment for inspection", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { health: "unhealthy" };
    const result = await rollout(world.parts, work({ previous: undefined }), SIGNAL);
    assert.equal(result.kind, "failed");
    assert.match(result.kind === "failed" ? result.text : "", /left for inspection/);
    assert.deepEqual(world.events, DEPLOYED);
    assert.ok(digests(world).includes("web-2"));
  });

  it("does not speak of containers of a first deployment that could not make any", async () => {
    const world = createWorld();
    world.engine.containers = [];
    world.onUp = () => {
      throw new StackwrightError("deploy_failed", "no space left");
    };
    const result = await rollout(world.parts, work({ previous: undefined }), SIGNAL);
    assert.equal(
      result.kind === "failed" && result.text,
      "there is no earlier release to go back to, and no container was made",
    );
  });

  it("leaves everything as it is when rolling back is turned off", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "dead" };
    const result = await rollout(world.parts, work({ rollback: false }), SIGNAL);
    assert.equal(result.kind, "failed");
    assert.match(result.kind === "failed" ? result.text : "", /DEPLOY_ROLLBACK is off/);
    assert.deepEqual(world.events, DEPLOYED);
  });

  it("keeps the first failure, and tells the second, when putting back fails too", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "exited", exitCode: 7 };
    world.outcome["web-1"] = { state: "exited", exitCode: 8 };
    const result = await rollout(world.parts, work(), SIGNAL);
    assert.equal(result.kind, "failed");
    assert.ok(result.kind === "failed");
    assert.match(result.error.message, /exit code 7/);
    assert.match(result.text, /^putting the previous release back failed too: .*exit code 8/);
  });

  it("starts again what ran before and was stopped on the way", async () => {
    const world = createWorld();
    const finite = { ...ALWAYS, restarts: false, mayFinish: true };
    const old = {
      ...OLD,
      release: releaseOf("old", [
        serviceOf("db"),
        serviceOf("web", { expectation: finite }),
        serviceOf("gone", { expectation: finite }),
      ]),
    };
    world.onUp = () => {
      world.engine.containers = world.engine.containers.map((each) =>
        ["web", "gone"].includes(each.service)
          ? { ...each, state: "exited" as const, exitCode: each.service === "gone" ? 0 : 137 }
          : each
      );
      world.onUp = () => {};
      throw new Error("compose broke off");
    };
    const given = work({ previous: old, ranBefore: ["db", "web"] });
    const result = await rollout(world.parts, given, SIGNAL);
    assert.equal(result.kind, "rolled_back");
    const states = Object.fromEntries(
      world.engine.containers.map((each) => [each.service, each.state]),
    );
    assert.deepEqual(states, { db: "running", web: "running", gone: "exited" });
  });

  it("starts no scheduled job, there and back, although it ran before", async () => {
    for (const outcome of [{}, { state: "exited", exitCode: 7 }] as const) {
      const world = createWorld();
      world.engine.containers = world.engine.containers.map((each) =>
        each.service === "db" ? { ...each, state: "exited", exitCode: 0 } : each
      );
      world.outcome["web-2"] = outcome;
      const asJob = (onDisk: ReleaseOnDisk, digest: string): ReleaseOnDisk => {
        const { services: [_db, ...others], model } = onDisk.release;
        const expectation = { ...ALWAYS, restarts: false, mayFinish: true, autostart: false };
        const services = { db: { labels: { "stackwright.job.enabled": "true" } } };
        const { services: rest } = model as { services: Record<string, unknown> };
        const release = {
          ...onDisk.release,
          services: [serviceOf("db", { digest, expectation }), ...others],
          model: { ...model, services: { ...rest, ...services } },
        };
        return { ...onDisk, release };
      };
      const services = PLAN.map((each): ServicePlan =>
        each.name === "db" ? { ...each, action: "recreate" } : each
      );
      const [next, previous] = [asJob(NEXT, "db-2"), asJob(OLD, "db-1")];
      const result = await rollout(world.parts, work({ next, previous, services }), SIGNAL);
      assert.equal(result.kind, "state" in outcome ? "rolled_back" : "deployed");
      const ups = world.events.filter((each) => /^up .* db( |$)/.test(each));
      assert.notEqual(ups.length, 0);
      assert.deepEqual(ups.filter((each) => !each.includes("--no-start")), []);
    }
  });

  it("leaves a stack stopped that a person had stopped, and stops what the failed release started", async () => {
    const world = createWorld();
    world.engine.containers = world.engine.containers.map((each) => ({
      ...each,
      state: "exited" as const,
      exitCode: 143,
    }));
    world.outcome["web-2"] = { state: "exited", exitCode: 7 };
    world.outcome["web-1"] = { state: "created" };
    world.engine.onCall = (called) => {
      world.events.push(called);
      world.engine.containers = world.engine.containers.map((each) =>
        called === `stop ${each.id}` ? { ...each, state: "exited" as const } : each
      );
    };
    const services = PLAN.map((each): ServicePlan =>
      each.name === "db" ? { ...each, action: "start" } : each
    );
    const given = work({ services, ranBefore: [], wasStopped: true });
    const result = await rollout(world.parts, given, SIGNAL);
    assert.equal(
      result.kind === "rolled_back" && result.text,
      "the previous release was put back: restored web; removed new; stopped, as it was",
    );
    const ups = world.events.filter((each) => each.startsWith("up of old"));
    assert.deepEqual(ups.filter((each) => !each.includes("--no-start")), []);
    const states = world.engine.containers.map((each) => [each.service, each.state]);
    assert.deepEqual(Object.fromEntries(states), { db: "exited", web: "created", gone: "exited" });
  });

  it("waits for the end of what was being stopped when a step was cut, and starts it again", async () => {
    const world = createWorld();
    let looks = 0;
    world.onUp = () => {
      world.onUp = () => {};
      world.engine.onInspect = () => {
        if (++looks !== 6) return;
        world.engine.containers = world.engine.containers.map((each) =>
          each.service === "web" ? { ...each, state: "exited" as const, exitCode: 137 } : each
        );
      };
      throw new Error("compose was cut off");
    };
    const result = await rollout(world.parts, work(), SIGNAL);
    assert.ok(result.kind === "rolled_back");
    assert.match(result.text, /restored web/);
    const web = world.engine.containers.find((each) => each.service === "web");
    assert.deepEqual([web?.id, web?.state], ["web:web-1", "running"]);
    assert.ok(looks > 6);
  });

  it("puts back only so often for an engine that says that what runs has ended", async () => {
    const world = createWorld();
    const say = (state: "running" | "exited") => {
      world.engine.containers = world.engine.containers.map((each) =>
        each.service === "web" ? { ...each, state } : each
      );
    };
    let looks = 0;
    world.onUp = () => {
      world.onUp = () => {};
      world.engine.onList = () => say("running");
      world.engine.onInspect = () => {
        if (++looks > 1_000) throw new Error("it goes on and on");
        say("exited");
      };
      throw new Error("compose was cut off");
    };
    const result = await rollout(world.parts, work(), SIGNAL);
    assert.equal(result.kind, "rolled_back");
    assert.ok(looks > 10 && looks < 1_000, String(looks));
  });

  it("says that no container had changed when it failed before any did", async () => {
    const world = createWorld();
    world.onUp = () => {
      world.onUp = () => {};
      throw new Error("compose did not start");
    };
    const result = await rollout(world.parts, work(), SIGNAL);
    assert.ok(result.kind === "rolled_back");
    assert.match(result.text, /no container had changed/);
    assert.match(result.error.message, /compose did not start/);
  });

  it("points the names of what the previous release built at its images again", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "dead" };
    world.engine.images = { "web:1": "sha256:newer", "sha256:older": "sha256:older" };
    const built = OLD.release.services.map((each) => ({ ...each, builds: each.name === "web" }));
    const previous = { ...OLD, release: { ...OLD.release, services: built } };
    await rollout(world.parts, work({ previous, previousImages: { web: "sha256:older" } }), SIGNAL);
    const tag = world.events.indexOf("tag sha256:older web:1");
    const back = world.events.findIndex((each) => each.startsWith("up of old"));
    assert.ok(tag >= 0 && tag < back, world.events.join("\n"));
  });

  it("leaves a name that nobody builds to who moved it, as for the next attempt", async () => {
    const world = createWorld();
    world.outcome["web-2"] = { state: "dead" };
    world.engine.images = { "web:1": "sha256:newer", "sha256:older": "sha256:older" };
    await rollout(world.parts, work({ previousImages: { web: "sha256:older" } }), SIGNAL);
    assert.ok(world.events.some((each) => each.startsWith("up of old")));
    assert.deepEqual(world.events.filter((each) => each.startsWith("tag ")), []);
  });

  it("rejects with the signal's reason, and puts nothing back, when it is aborted", async () => {
    const reason = new Error("shutting down");
    for (const during of ["up", "wait"]) {
      const world = createWorld();
      const stop = new AbortController();
      if (during === "up") world.onUp = () => stop.abort(reason);
      else world.outcome["new-1"] = { health: "starting" };
      let lists = 0;
      world.engine.onList = () => {
        if (during === "wait" && ++lists === 5) stop.abort(reason);
      };
      await assert.rejects(rollout(world.parts, work(), stop.signal), reason);
      assert.ok(!world.events.some((each) => each.includes("old")), world.events.join("\n"));
    }
  });
});

describe("pointTags()", () => {
  const release = releaseOf("old", [
    serviceOf("moved"),
    serviceOf("same"),
    serviceOf("lost"),
    serviceOf("unknown"),
    serviceOf("pinned", { image: "app@sha256:1" }),
    serviceOf("nameless", { image: "" }),
  ]);
  it("tags only what moved and is still there", async () => {
    const engine = createMemoryEngine();
    engine.images = {
      "moved:1": "newer",
      older: "older",
      "same:1": "s",
      s: "s",
      "lost:1": "newer",
      "app@sha256:1": "p",
      o: "o",
    };
    const images = { moved: "older", same: "s", lost: "vanished", pinned: "o", nameless: "o" };
    await pointTags(engine, release.services, images, SIGNAL);
    assert.deepEqual(engine.calls, ["tag older moved:1"]);
  });

  it("tags images of hooks and mounted ones first, so that those of services decide", async () => {
    const engine = createMemoryEngine();
    engine.images = { "tool:1": "newer", "job:1": "newer", older: "older", run: "run" };
    const services = [serviceOf("job"), serviceOf("web", { sideImages: ["tool:1", "job:1"] })];
    const images = { job: "run", "web/tool:1": "older", "web/job:1": "older" };
    await pointTags(engine, services, images, SIGNAL);
    assert.deepEqual(engine.calls, ["tag older tool:1", "tag older job:1", "tag run job:1"]);
  });
});
