import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LabelFilter } from "../../../src/docker/engine_facts.ts";
import {
  formatOwner,
  formatStackKey,
  JOB_INFIX,
  LABELS,
  MANAGER,
  type RunJob,
  stackKey,
} from "../../../src/model/mod.ts";
import type { JobParts } from "../../../src/pipeline/parts.ts";
import { endingBy } from "../../../src/pipeline/owner/end_others_runs.ts";
import { observeEngine } from "../../../src/pipeline/reconcile/observe_engine.ts";
import { runJob } from "../../../src/pipeline/run_job.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { releaseOf } from "../record/releases.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createFairLimiter, createKeyedLock, createWatchedLock } from "../../../src/system/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

/** Runs the job of stack `evil`, or takes a run over; returns what was told last. */
async function runOfEvil(
  { engine, ledger, onLock }: {
    readonly engine: ReturnType<typeof createMemoryEngine>;
    readonly ledger: ReturnType<typeof createMemoryLedger>;
    readonly onLock: (name: string) => void;
  },
  adopts?: string,
  origin: RunJob["origin"] = "automatic",
): Promise<string> {
  const parts = {
    host: { engine, info: engine.info, own: () => Promise.resolve(undefined) },
    ledger,
    secrets: { learned: () => Promise.resolve() },
    options: { dataDir: "/data" },
    clock: createFakeClock(),
    log: createRecordingLog(),
    meter: { count: () => {}, move: () => {}, observe: () => {} },
    stackLock: {
      ...createWatchedLock(),
      run: (name: string, held: () => Promise<unknown>) => {
        onLock(name);
        return held();
      },
    },
  };
  const jobs = {
    engine,
    results: { set: () => {} },
    leaves: () => false,
    making: createFairLimiter(8),
    looks: createKeyedLock(),
  };
  let told = "";
  let called = "";
  await runJob(
    parts as unknown as PipelineParts,
    jobs as unknown as JobParts,
    {
      work: {
        ...{ kind: "job", trigger: "scheduled_job", origin },
        ...{ key: stackKey("", "evil"), service: "job" },
        ...(adopts === undefined ? {} : { adopts }),
      },
      reporter: {
        describe: ({ repository }) => called = repository ?? called,
        target: ({ message }) => told = message ?? "",
      },
    },
    new AbortController().signal,
  );
  // The last run of a job is looked up by it, also one that was refused.
  assert.match(called, /^scheduled:evil-job-/);
  return told;
}

describe("runJob()", () => {
  for (
    const [origin, status, end] of [
      ["automatic", "skipped", "skipped"],
      // A person who asked is told that it was refused, as the API does at once.
      ["manual", "failed", undefined],
    ] as const
  ) {
    it(`runs nothing while a person has the stack stopped, and is ${status} where it is ${origin}`, async () => {
      const ledger = createMemoryLedger(createFakeClock());
      const key = stackKey("", "shop");
      ledger.stops.set(key, new Date(0));
      const told: string[] = [];
      const ended = await runJob(
        { ledger } as unknown as PipelineParts,
        {} as JobParts,
        {
          work: {
            ...{ kind: "job", trigger: "scheduled_job", origin },
            ...{ key, service: "backup" },
          },
          reporter: {
            describe: () => {},
            target: ({ status, message }) => told.push(`${status}: ${message}`),
          },
        },
        new AbortController().signal,
      );
      assert.equal(ended?.status, end);
      assert.equal(told.length, 1);
      assert.match(
        told[0] ?? "",
        new RegExp(`^${status}: .*not run: its stack was stopped over the API`),
      );
    });
  }

  it("asks for the containers of its job alone: each of hundreds may be about to run", async () => {
    const asked: LabelFilter[] = [];
    const listContainers = (labels: LabelFilter) => {
      asked.push(labels);
      return Promise.resolve([]);
    };
    const host = { engine: { listContainers }, info: () => Promise.resolve({ swarm: "none" }) };
    const parts = { host, ledger: createMemoryLedger(createFakeClock()) };
    const told: string[] = [];
    const ends: unknown[] = [];
    const results: JobParts["results"] = {
      set: (_, code, wasRefused) => ends.push([code, wasRefused]),
    };
    const ended = await runJob(
      parts as unknown as PipelineParts,
      { results, looks: createKeyedLock() } as unknown as JobParts,
      {
        work: {
          ...{ kind: "job", trigger: "scheduled_job", origin: "automatic" },
          ...{ key: stackKey("", "shop"), service: "backup" },
        },
        reporter: { describe: () => {}, target: ({ message }) => told.push(message ?? "") },
      },
      new AbortController().signal,
    );
    assert.deepEqual(told, ["starting", "shop has no job backup any more"]);
    // Its time came while it went: nobody asked for the run, and nothing failed.
    assert.equal(ended?.status, "skipped");
    assert.deepEqual(ends, [[undefined, true]]);
    assert.equal(asked.length, 1);
    for (const labels of asked) {
      assert.equal(labels["com.docker.compose.project"], "shop");
      assert.equal(labels["com.docker.compose.service"], "backup");
    }
  });

  it("looks up one job of a source at a time, and those of another source beside it", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    for (const [name, source] of [["a", "evil"], ["b", "evil"], ["c", "me"]] as const) {
      ledger.owners.settle(stackKey("", name), { source, reference: "" });
    }
    const looking: string[] = [];
    const answers: (() => void)[] = [];
    const listContainers = async (labels: LabelFilter) => {
      looking.push(labels["com.docker.compose.project"] ?? "");
      await new Promise<void>((resolve) => answers.push(resolve));
      return [];
    };
    const host = { engine: { listContainers }, info: () => Promise.resolve({ swarm: "none" }) };
    const jobs = { results: { set: () => {} }, looks: createKeyedLock() } as unknown as JobParts;
    const runs = ["a", "b", "c"].map((name) =>
      runJob(
        { host, ledger } as unknown as PipelineParts,
        jobs,
        {
          work: {
            ...{ kind: "job", trigger: "scheduled_job", origin: "automatic" },
            ...{ key: stackKey("", name), service: "backup" },
          },
          reporter: { describe: () => {}, target: () => {} },
        },
        new AbortController().signal,
      )
    );
    await settle();
    assert.deepEqual([...new Set(looking)], ["a", "c"]);
    let isOver = false;
    void Promise.all(runs).then(() => isOver = true);
    for (; !isOver; await settle()) answers.splice(0).forEach((answer) => answer());
    assert.ok(looking.includes("b"));
  });

  for (
    const other of [
      { source: "me", reference: "refs/heads/dev" },
      { source: "evil", reference: "refs/heads/main" },
    ]
  ) {
    it(`locks no stack of ${formatOwner(other)} for a run that it takes over, whose labels are new`, async () => {
      const [evil, shop, own] = [stackKey("", "evil"), stackKey("", "shop"), stackKey("", "own")];
      const ledger = createMemoryLedger(createFakeClock());
      for (const key of [evil, own]) {
        ledger.owners.settle(key, { source: "evil", reference: "refs/heads/dev" });
      }
      ledger.owners.settle(shop, other);
      const job = { "stackwright.job.enabled": "true", "stackwright.job.schedule": "@daily" };
      const stops = { "stackwright.job.stop_services": "shop/web, own/web" };
      const engine = Object.assign(
        createMemoryEngine([
          runningContainer("evil", "job", { state: "created", labels: { ...job, ...stops } }),
          runningContainer("evil", "job", {
            id: "run-id",
            labels: { ...job, "com.docker.compose.oneoff": "True", "stackwright.job.run": "7" },
          }),
        ]),
        { waitContainer: () => Promise.resolve(0) },
      );
      const locked: string[] = [];
      const run = (adopts?: string) =>
        runOfEvil({ engine, ledger, onLock: (name) => locked.push(name) }, adopts);
      assert.equal(await run("run-id"), "job job has run");
      assert.deepEqual(locked, [evil, own].map(formatStackKey));
      const end = await run();
      assert.match(end, /the job was not run: it stops shop\/web/);
      assert.ok(end.includes(`shop runs from ${formatOwner(other)};`), end);
      assert.equal(locked.length, 2);
    });
  }

  for (const name of ["evil", "me"]) {
    it(`goes on in the name of ${name}, whose run it takes over, also where all is me's by now`, async () => {
      const key = stackKey("", "evil");
      const me = { source: "me", reference: "" };
      const ledger = createMemoryLedger(createFakeClock());
      const release = releaseOf(key, "a".repeat(40));
      ledger.succeed(ledger.beginDeploy(release), {}, "done");
      ledger.handOver(key, me, { releasesOf: release.revision.source.name });
      const job = { "stackwright.job.enabled": "true", "stackwright.job.schedule": "@daily" };
      const made = { "com.docker.compose.oneoff": "True", "stackwright.job.run": "7" };
      const whose = { [LABELS.sourceConfiguration]: name, [LABELS.digest]: "d" };
      const labels = { ...job, ...made, ...whose };
      const run = { id: "run-id", name: `evil-job-1${JOB_INFIX}7`, labels };
      const memory = createMemoryEngine([runningContainer("evil", "job", run)]);
      const waitContainer = (_id: string, within: AbortSignal) => {
        within.throwIfAborted();
        return Promise.resolve(0);
      };
      const engine = Object.assign(memory, { waitContainer });
      const end = await runOfEvil({ engine, ledger, onLock: () => {} }, "run-id");
      const ended = /^evil was handed over to me: what was under way for its former owner/;
      assert.match(end, name === "me" ? /^job job has run$/ : ended);
    });
  }

  for (const [what, isForgotten] of [["gone", false], ["no job any more", true]] as const) {
    it(`starts what a noted run has stopped whose container is ${what}`, async () => {
      const key = stackKey("", "evil");
      const ledger = createMemoryLedger(createFakeClock());
      const notes = ledger.stoppedByJobs.of(key, "job");
      const stopServices = [{ project: "evil", service: "web" }];
      notes.set({ id: "job-id", stops: ["web-id"], mayRun: true, stopServices });
      const labels = { [LABELS.manager]: MANAGER, [LABELS.digest]: "d" };
      const memory = createMemoryEngine([
        runningContainer("evil", "web", { state: "exited", labels }),
        ...isForgotten ? [runningContainer("evil", "job", { labels })] : [],
      ]);
      const ended = Promise.withResolvers<number>();
      const engine = Object.assign(memory, { waitContainer: () => ended.promise });
      const locks: string[] = [];
      const run = runOfEvil({ engine, ledger, onLock: (name) => locks.push(name) }, "job-id");
      await settle();
      assert.deepEqual(engine.calls, isForgotten ? [] : ["start web-id"]);
      ended.resolve(0);
      assert.match(await run, isForgotten ? /^job job has run$/ : /is gone: nobody knows how/);
      assert.deepEqual([engine.calls, locks], [["start web-id"], [formatStackKey(key)]]);
      assert.equal(notes.get(), undefined);
    });
  }

  it("says where what it stopped could not be started again", async () => {
    const key = stackKey("", "evil");
    const ledger = createMemoryLedger(createFakeClock());
    const notes = ledger.stoppedByJobs.of(key, "job");
    const stopServices = [{ project: "evil", service: "web" }];
    notes.set({ id: "job-id", stops: ["web-id"], mayRun: true, stopServices });
    const labels = { [LABELS.manager]: MANAGER, [LABELS.digest]: "d" };
    const engine = Object.assign(
      createMemoryEngine([
        runningContainer("evil", "web", { state: "exited", labels }),
        runningContainer("evil", "job", { labels }),
      ]),
      {
        waitContainer: () => Promise.resolve(0),
        startContainer: () => Promise.reject(new Error("port is already allocated")),
      },
    );
    const end = await runOfEvil({ engine, ledger, onLock: () => {} }, "job-id");
    assert.match(end, /^job job has run; not all that it stopped could be started again/);
    assert.deepEqual(notes.get()?.stops, ["web-id"]);
  });

  /**
   * Runs a job of `evil` that stops `shop/web`; `meanwhile` happens while it waits for its lock, or
   * while it looks at another project, which it stops too, under that lock.
   */
  const stopping = async (
    containers: readonly ReturnType<typeof runningContainer>[],
    meanwhile: (ledger: ReturnType<typeof createMemoryLedger>) => void,
    other = "",
    before: typeof meanwhile = () => {},
    origin: RunJob["origin"] = "automatic",
  ) => {
    const ledger = createMemoryLedger(createFakeClock());
    ledger.owners.settle(stackKey("", "evil"), { source: "evil", reference: "" });
    before(ledger);
    const labels = {
      ...{ "stackwright.job.enabled": "true", "stackwright.job.schedule": "@daily" },
      "stackwright.job.stop_services": other === "" ? "shop/web" : `shop/web,${other}/x`,
    };
    const stopped: string[] = [];
    const memory = createMemoryEngine([
      runningContainer("evil", "job", { state: "created", labels }),
      ...containers,
    ]);
    const { listContainers } = memory;
    const engine = Object.assign(
      memory,
      {
        listContainers: (wanted: Record<string, string | undefined>, signal: AbortSignal) => {
          if (locked.length > 0 && Object.values(wanted).includes(other)) meanwhile(ledger);
          return listContainers(wanted, signal);
        },
        waitContainer: () => Promise.resolve(0),
        stopContainer: (id: string) => Promise.resolve(void stopped.push(id)),
      },
    );
    const locked: string[] = [];
    const onLock = (name: string) => {
      locked.push(name);
      if (other === "") meanwhile(ledger);
    };
    const end = await runOfEvil({ engine, ledger, onLock }, undefined, origin);
    return { locked, stopped, end };
  };

  it("locks no stack that nobody has deployed yet: another source may deploy it", async () => {
    const { locked, end } = await stopping([], () => {});
    assert.equal(end, "job job has run");
    assert.deepEqual(locked, [formatStackKey(stackKey("", "evil"))]);
  });

  it("stops nothing that another source deployed, whatever an engine that may lie makes of it", async () => {
    const lies = (ledger: ReturnType<typeof createMemoryLedger>) => {
      ledger.owners.settle(stackKey("lying", "shop"), { source: "evil", reference: "" });
      ledger.owners.noteEngine("lying", { id: "memory", cluster: "" });
    };
    const whose = (source: string) => {
      const labels = { [LABELS.manager]: MANAGER, [LABELS.sourceConfiguration]: source };
      return stopping([runningContainer("shop", "web", { labels })], () => {}, "", lies);
    };
    const { stopped, end } = await whose("me");
    assert.match(end, /the job was not run: it stops shop\/web, and shop runs from me;/);
    assert.deepEqual(stopped, []);
    assert.deepEqual(await whose("evil").then((its) => its.stopped.length), 1);
  });

  it("stops nothing that another source deployed while the run waited for its lock", async () => {
    const { stopped, end } = await stopping(
      [runningContainer("shop", "web")],
      (ledger) => ledger.owners.settle(stackKey("", "shop"), { source: "me", reference: "" }),
    );
    assert.match(end, /the job was not run: it stops shop\/web/);
    assert.deepEqual(stopped, []);
  });

  for (const origin of ["automatic", "manual"] as const) {
    it(`runs nothing in a stack that a person stopped while the ${origin} run waited for its lock`, async () => {
      const { stopped, end } = await stopping(
        [runningContainer("shop", "web")],
        (ledger) => ledger.stop(stackKey("", "evil")),
        "",
        () => {},
        origin,
      );
      assert.match(end, /not run: its stack was stopped over the API/);
      assert.deepEqual(stopped, []);
    });
  }

  it("stops nothing that another source deployed while the run looked at another project", async () => {
    const { stopped, end } = await stopping(
      [runningContainer("shop", "web")],
      (ledger) => ledger.owners.settle(stackKey("", "shop"), { source: "me", reference: "" }),
      "other",
    );
    assert.match(end, /the job was not run: it stops shop\/web/);
    assert.deepEqual(stopped, []);
  });
});

describe("runJob() whose stack was changed while it waited for its turn", () => {
  for (const origin of ["automatic", "manual"] as const) {
    it(`starts the container that is the job's by then, as it is defined by then, for a ${origin} run`, async () => {
      const key = stackKey("", "evil");
      const ledger = createMemoryLedger(createFakeClock());
      ledger.owners.settle(key, { source: "evil", reference: "" });
      const job = (id: string, more: Readonly<Record<string, string>>) =>
        runningContainer("evil", "job", {
          id,
          state: "created",
          labels: {
            ...{ "stackwright.job.enabled": "true", "stackwright.job.schedule": "@daily" },
            ...more,
          },
        });
      const engine = createMemoryEngine([
        job("old", { "stackwright.job.stop_services": "evil/web" }),
        runningContainer("evil", "web"),
      ]);
      let changed = 0;
      const end = await runOfEvil(
        {
          engine,
          ledger,
          onLock() {
            if (++changed > 1) return;
            ledger.fail(ledger.beginDeploy(releaseOf(key, "a".repeat(40))), "failed", "unhealthy");
            engine.containers = [job("new", {}), runningContainer("evil", "web")];
          },
        },
        undefined,
        origin,
      );
      assert.equal(end, "job job was started");
      assert.deepEqual(engine.calls, ["start new"]);
    });
  }
});

describe("endingBy()", () => {
  it("starts nothing of a stack that a person has stopped since the run began", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const key = stackKey("", "shop");
    const { requireStartable } = endingBy({ ledger } as unknown as PipelineParts, key, undefined);
    const start = () => requireStartable("shop", new AbortController().signal);
    await start();
    ledger.stops.set(key, new Date(0));
    await assert.rejects(start, /nothing of shop is started: a person stopped it meanwhile/);
  });
});

describe("observeEngine()", () => {
  const ours = (source: string) => ({
    [LABELS.manager]: MANAGER,
    [LABELS.sourceConfiguration]: source,
  });

  /** The stacks that a job of `evil`, which stops `shop/web`, has stopped, by what is on the engine. */
  async function stopped(shopIsOf: string | undefined) {
    const evil = stackKey("", "evil");
    const ledger = createMemoryLedger(createFakeClock());
    ledger.owners.settle(evil, { source: "host/evil", reference: "" });
    const job = { "stackwright.job.enabled": "true", "stackwright.job.schedule": "@daily" };
    const engine = createMemoryEngine([
      runningContainer("evil", "job", {
        labels: { ...job, "stackwright.job.stop_services": "shop/web" },
      }),
      runningContainer("shop", "by-hand", { labels: ours("host/evil") }),
      runningContainer("shop", "db", { labels: shopIsOf === undefined ? {} : ours(shopIsOf) }),
    ]);
    const place = { context: evil.context, isManager: false };
    const seen = await observeEngine(engine, ledger, place, new AbortController().signal);
    return [...seen.stopped.keys()];
  }

  it("knows what a job stopped of its own source, and of what nobody deployed", async () => {
    assert.deepEqual(await stopped("host/evil"), ["shop"]);
    assert.deepEqual(await stopped(undefined), ["shop"]);
  });

  it("takes nobody else's stack for stopped, of which the ledger does not know either", async () => {
    assert.deepEqual(await stopped("host/me"), []);
  });
});
