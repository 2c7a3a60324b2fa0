import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contextsOf } from "../../../src/app/each_context.ts";
import { JobBoards } from "../../../src/app/jobs.ts";
import type { ContainerEvent } from "../../../src/docker/mod.ts";
import { LABELS, MANAGER, type RunJob, stackKey } from "../../../src/model/mod.ts";
import type { Ledger } from "../../../src/record/mod.ts";
import { createRedactor, stackAsOwner } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { serviceOf } from "../plan/values.ts";
import { releaseOf } from "../record/releases.ts";
import { until } from "../../flow/until.ts";
import { longestStretch } from "../processor_time.ts";

const never = new AbortController().signal;

describe("JobBoards", () => {
  it("masks the words of a stack in what is wrong with its job", async () => {
    const labels = {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "hunterwolf * * * *",
    };
    const redactor = createRedactor();
    redactor.add("hunterwolf", stackAsOwner(stackKey("", "shop")));
    const client = createMemoryEngine(
      ["shop", "wiki"].map((stack) => runningContainer(stack, `${stack}-job`, { labels })),
    );
    const parts = {
      engines: { of: () => Promise.resolve({ client }) },
      ledger: createMemoryLedger(createFakeClock()),
      clock: createFakeClock(),
      log: createRecordingLog(),
      events: () => ({}),
      hasSwarmFeatures: false,
      redactor,
      learned: () => Promise.resolve(),
    };
    const boards = new JobBoards(
      parts as unknown as ConstructorParameters<typeof JobBoards>[0],
      never,
    );
    const [shop, wiki] = await boards.of("default").list(never);
    assert.match(shop?.problem ?? "", /\*\*\*/);
    assert.doesNotMatch(shop?.problem ?? "", /hunterwolf/);
    assert.match(wiki?.problem ?? "", /hunterwolf/);
    client.containerLogs = () => Promise.resolve(["begun", "hunterwolf"]);
    assert.equal(await shop?.printed?.(never), "; last output:\nbegun\n***");
    assert.equal(await wiki?.printed?.(never), "; last output:\nbegun\nhunterwolf");
  });

  it("runs a job that nobody deployed by one of the contexts that lead to its engine", async () => {
    const clock = createFakeClock();
    const labels = {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "* * * * *",
    };
    // As compose makes it to replace another one: it has the name without the id in front a moment later.
    const name = "1b85ff064ab8_hand-job-1";
    const client = createMemoryEngine([
      runningContainer("hand", "job", { id: "same", labels, name }),
    ]);
    const other = createMemoryEngine([runningContainer("hand", "job", { id: "other", labels })]);
    const log = createRecordingLog();
    const ran: string[] = [];
    const stop = new AbortController();
    const follow = (heard: { onGap: () => void }) => {
      heard.onGap();
      return new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
    };
    const submit = ({ key }: { key: { context: string } }) => void ran.push(key.context);
    const parts = {
      engines: {
        of: (context: string) => Promise.resolve({ client: context === "nas" ? other : client }),
      },
      ledger: createMemoryLedger(clock),
      gate: () => ({ intake: { submit }, runs: { list: () => [] } }),
      clock,
      log,
      meter: { count() {} },
      events: () => ({ follow }),
      hasSwarmFeatures: false,
      timeZone: "UTC",
    };
    const boards = new JobBoards(
      parts as unknown as ConstructorParameters<typeof JobBoards>[0],
      stop.signal,
    );
    const ended = ["alias", "default", "nas"].map((context) => boards.of(context).start(true));
    await until(() => log.lines.filter(({ message }) => message === "job scheduled").length === 3);
    const names = log.lines.filter(({ message }) => message === "job scheduled")
      .map(({ fields }) => fields?.["job"]);
    assert.deepEqual(names, ["hand-job-1", "hand-job-1", "hand-job-1"]);
    await clock.advance(60_000);
    await until(() => ran.length >= 2);
    assert.deepEqual(ran.sort(), ["default", "nas"]);
    assert.match(
      log.lines.map(({ message }) => message).join("\n"),
      /the job is not run: context default leads to the same engine, and runs it/,
    );
    stop.abort();
    await Promise.all(ended);
  });

  it("takes over what a job has left stopped that nobody finds any more, and lists it until then", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    const labels = { "stackwright.job.enabled": "true", "stackwright.job.schedule": "@yearly" };
    const client = createMemoryEngine([runningContainer("hand", "there", { labels })]);
    const run = { id: "gone", stops: ["web-id"], mayRun: true };
    const stopServices = [{ project: "shop", service: "web" }];
    ledger.stoppedByJobs.of(stackKey("", "shop"), "backup").set({ ...run, stopServices });
    ledger.stoppedByJobs.of(stackKey("", "hand"), "there").set({ ...run, id: "before" });
    ledger.stoppedByJobs.of(stackKey("nas", "wiki"), "backup").set(run);
    assert.deepEqual([...contextsOf(ledger)].sort(), ["default", "nas"]);
    const stop = new AbortController();
    const adopted: string[] = [];
    const parts = {
      engines: { of: () => Promise.resolve({ client }) },
      ledger,
      gate: () => ({
        intake: {
          submit: ({ key, service, adopts }: RunJob) =>
            void adopted.push(`${key.name}/${service} ${adopts}`),
        },
        runs: { list: () => [] },
      }),
      clock,
      log: createRecordingLog(),
      events: () => ({}),
      hasSwarmFeatures: false,
      redactor: createRedactor(),
      learned: () => Promise.resolve(),
      timeZone: "UTC",
    };
    const board = new JobBoards(
      parts as unknown as ConstructorParameters<typeof JobBoards>[0],
      stop.signal,
    ).of("default");
    const [, gone] = await board.list(never);
    assert.deepEqual([gone?.name, gone?.spec?.enabled], ["shop-backup-1", undefined]);
    assert.match(gone?.problem ?? "", /^it is gone/);
    await board.start(false);
    assert.deepEqual(adopted, ["hand/there before", "shop/backup gone"]);
    stop.abort();
  });

  it("lets others work while it looks at hundreds of jobs that never run", async () => {
    const labels = {
      "stackwright.job.enabled": "true",
      "stackwright.job.schedule": "0 0 30 2 *",
    };
    const client = createMemoryEngine(
      Array.from({ length: 600 }, (_, at) => runningContainer("shop", `job${at}`, { labels })),
    );
    const parts = {
      engines: { of: () => Promise.resolve({ client }) },
      ledger: createMemoryLedger(createFakeClock()),
      clock: createFakeClock(),
      log: createRecordingLog(),
      events: () => ({}),
      hasSwarmFeatures: false,
      redactor: createRedactor(),
    };
    const board = new JobBoards(
      parts as unknown as ConstructorParameters<typeof JobBoards>[0],
      never,
    )
      .of("default");
    let problems: (string | undefined)[] = [];
    const longest = await longestStretch(async () => {
      problems = (await board.list(never)).map(({ problem }) => problem);
    });
    assert.deepEqual(problems, Array(600).fill("schedule: it never fires"));
    assert.ok(longest < 400, `${longest} ms`);
  });

  it("reads of the ledger, when a container comes, what is recorded of its stack alone", async () => {
    const { containers, reads, log, clock, tell, end } = createManyJobs(100);
    const scheduled = () => log.lines.filter(({ message }) => message === "job scheduled").length;
    const unscheduled = () =>
      log.lines.filter(({ message }) => message === "job unscheduled").length;
    await until(() => scheduled() === 100);
    assert.ok(reads() >= 100, `${reads()} reads`);
    const before = reads();
    const [gone] = containers.splice(7, 1);
    assert.ok(gone);
    tell("destroy", gone.labels);
    await clock.advance(1000);
    await until(() => unscheduled() === 1);
    containers.push(gone);
    tell("create", gone.labels);
    await clock.advance(1000);
    await until(() => scheduled() === 101);
    assert.ok(reads() - before < 20, `${reads() - before} reads`);
    // Only a look at all tells what an event without a stack is about.
    containers.splice(0, 2);
    tell("destroy", { "stackwright.job.enabled": "true" });
    await clock.advance(1000);
    await until(() => unscheduled() === 3);
    await end();
  });
});

/** As many stacks with a job each, scheduled; `reads` counts what was read of their releases. */
function createManyJobs(count: number) {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  const labels = { "stackwright.job.enabled": "true", "stackwright.job.schedule": "0 0 1 1 *" };
  const containers = Array.from({ length: count }, (_, at) => {
    const model = { services: { job: { image: "job:1", labels } } };
    const services = [serviceOf("job", { digest: "1" })];
    const release = releaseOf(stackKey("", `s${at}`), "a".repeat(40), { model, services });
    ledger.succeed(ledger.beginDeploy(release), {}, "done");
    const ours = { ...labels, [LABELS.digest]: "1", [LABELS.manager]: MANAGER };
    return runningContainer(`s${at}`, "job", { id: `id-${at}`, labels: ours });
  });
  const client = createMemoryEngine();
  client.containers = containers;
  let reads = 0;
  const counted = ["current", "history", "services", "open"].map((name) => {
    const read = Reflect.get(ledger, name) as (...given: unknown[]) => unknown;
    return [name, (...given: unknown[]) => (reads++, read(...given))] as const;
  });
  const log = createRecordingLog();
  const stop = new AbortController();
  let tell = (_event: ContainerEvent) => {};
  const follow = (heard: { onEvent: typeof tell; onGap: () => void }) => {
    tell = heard.onEvent;
    heard.onGap();
    return new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  };
  const parts = {
    engines: { of: () => Promise.resolve({ client }) },
    ledger: Object.assign(Object.create(ledger) as Ledger, Object.fromEntries(counted)),
    clock,
    log,
    events: () => ({ follow }),
    hasSwarmFeatures: false,
    timeZone: "UTC",
  };
  type Parts = ConstructorParameters<typeof JobBoards>[0];
  const ended = new JobBoards(parts as unknown as Parts, stop.signal).of("default").start(true);
  return {
    containers,
    clock,
    log,
    reads: () => reads,
    tell: (action: string, attributes: Readonly<Record<string, string>>) =>
      tell({ action, detail: "", containerId: "1", attributes, time: 1n }),
    end: () => (stop.abort(), ended),
  };
}
