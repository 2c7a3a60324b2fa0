import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOperations, type Operations } from "../../../src/api/operations.ts";
import { Projects, Stacks } from "../../../src/deploy/mod.ts";
import { createIntake, type Execute } from "../../../src/intake.ts";
import { type SourceRequest, StackwrightError } from "../../../src/model/mod.ts";
import { createSyncWindows } from "../../../src/plan/mod.ts";
import { reduceTargets } from "../../../src/plan/mod.ts";
import { createRuns } from "../../../src/record/runs.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { lockParts } from "../../fakes/lock_parts.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger, planned, recordShop } from "../../fakes/memory_ledger.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createMemorySwarm } from "../../fakes/memory_swarm.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const source: SourceRequest = {
  kind: "git",
  url: "https://example.org/acme/shop",
  reference: "main",
  target: "",
  deployments: [],
};

function createWorld(execute: Execute = () => Promise.resolve()) {
  const clock = createFakeClock();
  const log = createRecordingLog();
  const runs = createRuns({ clock });
  const ledger = createMemoryLedger(clock);
  recordShop(ledger, clock);
  let count = 0;
  const intake = createIntake({
    runs,
    performers: { sync: execute, rollback: () => Promise.resolve() },
    conclude: (targets, facts) =>
      reduceTargets(targets, { ...facts, formatTime: (at) => at.toISOString() }),
    clock,
    ids: { next: () => `run-${++count}` },
    redactor: createRedactor(),
    log,
  });
  const parsed: unknown[] = [];
  const engine = { check: (_signal: AbortSignal): Promise<unknown> => Promise.resolve() };
  const memory = createMemoryEngine([runningContainer("shop", "web")]);
  const stacks = new Stacks({
    engine: createMemorySwarm([{ stack: "shop", service: "web" }]),
    ...lockParts(clock),
    isManager: () => Promise.resolve(true),
    destroyRecorded: () => Promise.resolve(false),
  });
  const operations = createOperations({
    intake,
    runs,
    contexts: () => Promise.resolve(["default"]),
    learned: () => Promise.resolve(),
    hosts: { of: () => Promise.reject(new Error("there is no engine")) },
    checkEngine: (signal) => engine.check(signal),
    projects: new Projects({
      requireNotOurs: () => Promise.resolve(),
      isStack: () => false,
      watchMs: 2000,
      engine: () => Promise.resolve(memory),
      ...lockParts(clock),
      destroyRecorded: () => Promise.resolve(undefined),
      hold: () => undefined,
      started: () => {},
      recreateRecorded: () => Promise.resolve("done"),
      keptImages: () => Promise.resolve(new Set()),
      keptNames: () => Promise.resolve(() => undefined),
    }),
    stacks: () => Promise.resolve(stacks),
    mirrors: () => Promise.resolve([{ repository: "example.org/acme/shop", path: "/m" }]),
    hasContext: () => Promise.resolve(false),
    deployments: () => Promise.resolve([]),
    parsePollRequest: (value) => {
      parsed.push(value);
      return [source];
    },
    clock,
    ledger,
    shownDigest: ({ name }, digest) => `${name} ${digest}`,
    shownModel: (recorded) => Promise.resolve(JSON.stringify(ledger.open(recorded).model)),
    polls: [],
    windows: createSyncWindows([]),
    jobs: () =>
      Promise.resolve([{
        key: { context: "default", name: "shop" },
        service: "x",
        name: "x",
        mode: "container",
        status: "created",
        container: { state: "created", exitCode: undefined },
        repository: "",
        problem: "no schedule",
      }]),
    plan: planned,
    timeZone: "UTC",
  });
  const call = { signal: new AbortController().signal, log };
  return { clock, log, runs, intake, operations, parsed, engine, call };
}

describe("every operation", () => {
  it("has an id of its own, a summary, and an answer that its schema describes", async () => {
    const { operations, call } = createWorld();
    const shop = { project_name: "shop" };
    const stack = { stack_name: "shop" };
    const run = await operations.runPolls.call({ configs: [1] }, call);
    const ids = Object.values(operations).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const inputs: Readonly<Record<keyof Operations, unknown>> = {
      health: {},
      listDeployments: {},
      listRuns: {},
      getRun: { job_id: run.run.job_id },
      runPolls: { configs: [1] },
      syncWindows: {},
      listJobs: {},
      runJob: { job_name: "x" },
      listProjects: { all: true },
      getProject: shop,
      controlProject: { ...shop, action: "stop" },
      recreateProject: { ...shop, service: "web" },
      destroyProject: shop,
      compactMirrors: {},
      listStacks: {},
      getStack: stack,
      controlStack: { ...stack, action: "restart" },
      removeStack: stack,
      getDeployment: { name: "shop" },
      listReleases: { name: "shop" },
      listDecisions: { name: "shop" },
      diffReleases: { name: "shop", from: 1, to: 2 },
      unpin: { name: "shop" },
      hold: { name: "shop", reason: "CPU bug", until: "36h" },
      resume: { name: "shop" },
      rollBack: { name: "shop", reason: "CPU bug" },
      planStack: { name: "shop" },
      applyStack: { name: "shop", plan_id: "p1" },
      retryStack: { name: "shop" },
      adopt: { name: "shop", source: "h.example/o/r" },
      forget: { name: "shop" },
    };
    for (const [name, operation] of Object.entries(operations)) {
      const output = await operation.call(inputs[name as keyof Operations], call);
      assert.deepEqual(operation.output.parse(output), output);
      assert.match(operation.summary, /\.$/);
    }
  });

  it("refuses unknown input with its problems", async () => {
    const { operations, call } = createWorld();
    for (const operation of Object.values(operations)) {
      const input = { job_id: "x", configs: [1], limit: 1, nonsense: true };
      await assert.rejects(operation.call(input, call), (error) => {
        assert.ok(error instanceof StackwrightError);
        assert.equal(error.code, "bad_request");
        assert.ok(
          error.problems.some(({ message }) =>
            / a member that is not known; there are /.test(message)
          ),
        );
        return true;
      });
    }
  });
});

describe("the log of who did what", () => {
  const lines: [name: "controlProject" | "destroyProject" | "controlStack", object, string][] = [
    ["controlStack", { action: "restart" }, "the API was asked to restart stack shop: done"],
    ["controlProject", { action: "stop" }, "the API was asked to stop project shop: done"],
    ["destroyProject", {}, "the API was asked to remove project shop: done"],
  ];
  for (const [name, input, text] of lines) {
    it(`has a line: ${text}`, async () => {
      const { operations, call, log } = createWorld();
      const what = name === "controlStack" ? "stack_name" : "project_name";
      const asked = { [what]: "shop", ...input };
      await operations[name].call(asked, { ...call, client: "192.0.2.7" });
      const [line, ...more] = log.lines;
      assert.deepEqual([line?.level, line?.message, more], ["info", text, []]);
      assert.deepEqual([line?.fields["stack"], line?.fields["client"]], ["shop", "192.0.2.7"]);
    });
  }

  it("has a line for what was not done", async () => {
    const { operations, call, log } = createWorld();
    const asked = { project_name: "none", action: "stop" };
    await assert.rejects(operations.controlProject.call(asked, call), { code: "not_found" });
    const [line] = log.lines;
    assert.equal(line?.message, "a command asked to stop project none: failed");
    assert.equal(line?.fields["code"], "not_found");
  });
});

describe("health", () => {
  it("hides the text of an unexpected error", async () => {
    const { operations, call, engine } = createWorld();
    engine.check = () => Promise.reject(new TypeError("x of undefined"));
    const error = "the container engine could not be checked";
    assert.deepEqual(await operations.health.call({}, call), { details: "unhealthy", error });
  });

  it("survives a check that throws at once, and leaves no timer behind", async () => {
    const { operations, call, engine, clock } = createWorld();
    engine.check = () => {
      throw new StackwrightError("engine_unreachable", "no socket");
    };
    const error = "no socket";
    assert.deepEqual(await operations.health.call({}, call), { details: "unhealthy", error });
    assert.equal(clock.sleepers, 0);
  });

  it("aborts a check that takes more than three seconds", async () => {
    const { operations, call, engine, clock } = createWorld();
    let seen: AbortSignal | undefined;
    engine.check = (signal) => {
      seen = signal;
      return new Promise(() => {});
    };
    const answer = operations.health.call({}, call);
    await clock.advance(2_999);
    assert.equal(seen?.aborted, false);
    await clock.advance(1);
    assert.match((await answer).error ?? "", /within 3 s/);
    assert.equal(seen?.aborted, true);
  });
});

describe("listRuns", () => {
  it("lists 50 by default and never more than 200", async () => {
    const { operations, call, runs } = createWorld();
    for (let i = 0; i < 205; i++) runs.accept({ id: `r${i}`, trigger: "poll" });
    const count = async (input: unknown) => (await operations.listRuns.call(input, call)).length;
    assert.equal(await count({}), 50);
    assert.equal(await count({ limit: 3 }), 3);
    assert.equal(await count({ limit: 100_000 }), 200);
  });
});

describe("getRun", () => {
  it("ignores spaces around the id and nothing else", async () => {
    const { operations, call, runs } = createWorld();
    runs.accept({ id: "Abc", trigger: "poll" });
    assert.equal((await operations.getRun.call({ job_id: " Abc " }, call)).job_id, "Abc");
    const message = "run not found";
    await assert.rejects(operations.getRun.call({ job_id: "abc" }, call), {
      code: "not_found",
      message,
    });
  });
});

describe("runPolls", () => {
  it("hands the entries to the parser and its sources to the intake as manual work", async () => {
    const works: unknown[] = [];
    const { operations, call, parsed } = createWorld((work) => {
      works.push(work);
      return Promise.resolve();
    });
    await operations.runPolls.call({ configs: ["as sent"] }, call);
    assert.deepEqual(parsed, [["as sent"]]);
    assert.deepEqual(works, [{
      kind: "sync",
      trigger: "poll",
      origin: "manual",
      sources: [source],
    }]);
  });

  it("without wait the caller's going away does not cancel the work", async () => {
    const gate = Promise.withResolvers<void>();
    const { operations, call, runs, clock } = createWorld(async (_work, reporter, signal) => {
      await gate.promise;
      signal.throwIfAborted();
      reporter.target({ context: "default", stack: "a", status: "succeeded" });
    });
    const caller = new AbortController();
    const input = { configs: [1], wait: false };
    const { outcome, run } = await operations.runPolls.call(input, {
      ...call,
      signal: caller.signal,
    });
    caller.abort();
    gate.resolve();
    await clock.advance(0);
    assert.deepEqual([outcome, runs.get(run.job_id)?.status], ["started", "succeeded"]);
  });

  it("with wait the caller's going away cancels the work", async () => {
    const { operations, call, clock } = createWorld((_work, _reporter, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      })
    );
    const caller = new AbortController();
    const answer = operations.runPolls.call({ configs: [1] }, { ...call, signal: caller.signal });
    await clock.advance(0);
    caller.abort();
    assert.equal((await answer).outcome, "cancelled");
  });
});
