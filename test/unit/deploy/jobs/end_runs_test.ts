import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endGoneRuns, endRuns, isFormerRun } from "../../../../src/deploy/mod.ts";
import { executionBody } from "../../../../src/deploy/jobs/swarm_job.ts";
import { labelsOfRun } from "../../../../src/deploy/jobs/execution.ts";
import type { Engine } from "../../../../src/docker/engine.ts";
import { serviceOf } from "../../../../src/docker/swarm_calls.ts";
import {
  LABELS,
  MANAGER,
  MOST_OBSERVED,
  type ObservedContainer,
  stackKey,
} from "../../../../src/model/mod.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";
import { createMemoryLedger } from "../../../fakes/memory_ledger.ts";

const MAIN = { source: "host/me/shop", reference: "refs/heads/main" };
const DEV = { ...MAIN, reference: "refs/heads/dev" };
const ANY = { ...MAIN, reference: "" };
const THEIRS = { source: "host/them/shop", reference: "refs/heads/main" };
/** Of the job's own container or service. */
const OURS = { [LABELS.manager]: MANAGER, [LABELS.sourceConfiguration]: MAIN.source };

/** The names of the runs that are ended of one that was made in the name of `owner`; older ones say no branch. */
async function ended(
  owner: typeof MAIN | undefined,
  now: typeof MAIN & { readonly adopted?: boolean },
  isStack = false,
): Promise<readonly string[]> {
  const execution = { runId: "7", stops: [], owner, completions: 1 };
  const run = runningContainer("shop", "a", {
    name: "shop-a-1-stackwright-job-7",
    labels: { ...OURS, "com.docker.compose.oneoff": "True", ...labelsOfRun(execution) },
  });
  const like = serviceOf({
    Spec: { Name: "shop_a", Labels: { "com.docker.stack.namespace": "shop", ...OURS } },
  });
  const service = serviceOf({ ID: "s", Spec: executionBody(like, execution) });
  const removed: string[] = [];
  const remove = (id: string) => Promise.resolve(void removed.push(id));
  const engine = {
    listContainers: () => Promise.resolve([run]),
    removeContainer: remove,
    stopContainer: () => Promise.resolve(),
    inspectContainer: () => Promise.resolve({ container: run }),
    swarm: {
      service: () => Promise.resolve(service),
      services: () => Promise.resolve([service]),
      tasks: () => Promise.resolve([]),
      removeService: remove,
    },
  };
  const ends = (each: ObservedContainer) => isFormerRun(each, { adopted: true, ...now });
  const { signal } = new AbortController();
  const parts = {
    engine: engine as unknown as Engine,
    clock: createFakeClock(),
    log: createRecordingLog(),
    startable: () => () => Promise.resolve(),
    notesOf: () => ({ get: () => undefined, set() {}, remove() {} }),
  };
  const names = await endRuns(parts, { key: stackKey("", "shop"), isStack, ends }, signal);
  assert.equal(removed.length, names.length);
  return names;
}

describe("endRuns()", () => {
  it("ends none of more than may be looked at, and does not count other single runs", async () => {
    const names = ["shop-a-1-stackwright-job-7", "shop-a-run-1"];
    const stopped: string[] = [];
    const [runs, others] = names.map((name) => ({
      listContainers: () =>
        Promise.resolve(
          Array.from({ length: MOST_OBSERVED + 1 }, () =>
            runningContainer("shop", "a", {
              name,
              labels: { "com.docker.compose.oneoff": "True" },
            })),
        ),
      stopContainer: (id: string) => Promise.resolve(void stopped.push(id)),
    } as unknown as Engine));
    const end = (engine: Engine | undefined) =>
      endRuns(
        {
          engine: engine!,
          clock: createFakeClock(),
          log: createRecordingLog(),
          startable: () => () => Promise.resolve(),
          notesOf: () => ({ get: () => undefined, set() {}, remove() {} }),
        },
        { key: stackKey("", "shop"), isStack: false, ends: () => true },
        new AbortController().signal,
      );
    await assert.rejects(end(runs), { code: "engine_refused", message: /3001 containers/ });
    assert.deepEqual([await end(others), stopped], [[], []]);
  });
});

describe("endRuns() that cannot start what a run has stopped in another stack", () => {
  it("notes it before the run is removed, whose label told of it", async () => {
    const labels = { "com.docker.compose.oneoff": "True", "stackwright.job.stops": '["web-id"]' };
    const name = "shop-backup-1-stackwright-job-7";
    const engine = createMemoryEngine([
      runningContainer("shop", "backup", { id: "run-id", name, labels }),
      runningContainer("blog", "web", { state: "exited" }),
    ]);
    engine.startContainer = () => Promise.reject(new Error("the port is taken"));
    const { stoppedByJobs } = createMemoryLedger(createFakeClock());
    const key = stackKey("", "shop");
    const parts = {
      engine: engine as unknown as Engine,
      clock: createFakeClock(),
      log: createRecordingLog(),
      startable: () => () => Promise.resolve(),
      notesOf: (service: string) => stoppedByJobs.of(key, service),
    };
    const which = { key, isStack: false, ends: () => true };
    assert.deepEqual(await endRuns(parts, which, new AbortController().signal), [name]);
    assert.equal(engine.calls.at(-1), "remove run-id with volumes");
    assert.deepEqual(stoppedByJobs.of(key, "backup").get()?.stops, ["web-id"]);
  });
});

describe("endGoneRuns()", () => {
  const key = stackKey("", "shop");
  const never = new AbortController().signal;
  const ending = async (containers: ObservedContainer[], isStarted = true) => {
    const engine = createMemoryEngine(containers);
    if (!isStarted) engine.startContainer = () => Promise.reject(new Error("the port is taken"));
    const ledger = createMemoryLedger(createFakeClock());
    const notes = ledger.stoppedByJobs.of(key, "backup");
    notes.set({ id: "backup-id", stops: ["web-id", "gone-id"], mayRun: true });
    const [noted] = ledger.stoppedByJobs.all("default", "shop");
    assert.ok(noted);
    assert.deepEqual(ledger.stoppedByJobs.all("default", "blog"), []);
    const log = createRecordingLog();
    const parts = {
      engine: engine as unknown as Engine,
      clock: createFakeClock(),
      log,
      startable: () => () => Promise.resolve(),
      notesOf: () => notes,
    };
    await endGoneRuns(parts, { noted, owner: undefined }, never);
    return { calls: engine.calls, stops: notes.get()?.stops, log };
  };
  const web = runningContainer("blog", "web", { state: "exited" });

  it("starts what a run has stopped whose container is gone, and what is there of that", async () => {
    const { calls, stops, log } = await ending([web]);
    assert.deepEqual([calls, stops, log.lines], [["start web-id"], undefined, []]);
  });

  it("keeps the note of what cannot be started, and of a run whose container is there", async () => {
    const { stops, log } = await ending([web], false);
    assert.deepEqual(stops, ["web-id"]);
    assert.match(log.lines[0]?.message ?? "", /the port is taken/);
    const there = await ending([web, runningContainer("shop", "backup", { state: "exited" })]);
    assert.deepEqual([there.calls, there.stops], [[], ["web-id", "gone-id"]]);
  });
});

describe("endRuns() of a former owner", () => {
  for (const isStack of [false, true]) {
    it(`ends runs of another source or branch, ${isStack ? "in a swarm" : "in containers"}`, async () => {
      const name = isStack ? "shop_a-stackwright-job-7" : "shop-a-1-stackwright-job-7";
      assert.deepEqual(await ended(MAIN, DEV, isStack), [name]);
      assert.deepEqual(await ended(MAIN, THEIRS, isStack), [name]);
      assert.deepEqual(await ended(undefined, THEIRS, isStack), [name]);
      for (const own of [MAIN, ANY, undefined]) {
        assert.deepEqual(await ended(own, MAIN, isStack), []);
      }
      assert.deepEqual(await ended(MAIN, ANY, isStack), []);
      // Theirs, by a job whose container was made before the hand-over to them.
      assert.deepEqual(await ended(THEIRS, THEIRS, isStack), []);
      assert.deepEqual(await ended(MAIN, { ...DEV, adopted: false }, isStack), []);
    });
  }
});
