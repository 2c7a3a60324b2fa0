import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isJobService, LABELS } from "../../../../src/model/mod.ts";
import { awaitedJobs, calledJobs, findJobs, type FoundJob } from "../../../../src/deploy/mod.ts";
import type { Ledger } from "../../../../src/record/mod.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";
import { createMemoryLedger, SHOP } from "../../../fakes/memory_ledger.ts";
import { serviceOf } from "../../plan/values.ts";
import { releaseOf } from "../../record/releases.ts";

const JOB = { "stackwright.job.enabled": "true" };

/** A release whose service `web` has these labels and this digest. */
function release(labels: Readonly<Record<string, string>>, digest: string) {
  const { expectation } = serviceOf("web");
  return releaseOf(SHOP, "a".repeat(40), {
    model: { services: { web: { image: "web:1", labels } } },
    services: [
      serviceOf("web", {
        digest,
        expectation: { ...expectation, autostart: !isJobService(labels) },
      }),
    ],
  });
}

describe("awaitedJobs()", () => {
  let ledger: Ledger;
  beforeEach(() => {
    ledger = createMemoryLedger(createFakeClock());
  });
  const says = async (digest: string | undefined, labels = JOB, service = "web") => {
    const ours = digest === undefined ? {} : { [LABELS.digest]: digest };
    const container = { ...job("shop", { ...labels, ...ours }).container, service };
    return (await awaitedJobs(ledger, SHOP, [container])).length === 1;
  };
  const deploy = (labels: Readonly<Record<string, string>>, digest: string) =>
    ledger.succeed(ledger.beginDeploy(release(labels, digest)), {}, "done");

  it("does not believe labels that its author did not write", async () => {
    deploy({ other: "x" }, "1");
    assert.equal(await says("1"), false);
  });

  it("believes those of its author, also of one that is being deployed", async () => {
    deploy({}, "1");
    ledger.beginDeploy(release(JOB, "2"));
    assert.deepEqual([await says("1"), await says("2")], [false, true]);
  });

  it("does not believe them while its first release is being deployed", async () => {
    ledger.beginDeploy(release({}, "1"));
    assert.equal(await says("1"), false);
  });

  it("believes the author of a release that was recorded before there were jobs", async () => {
    const old = release(JOB, "1");
    const services = old.services.map((each) => ({
      ...each,
      ...serviceOf("web", { digest: "1" }),
    }));
    ledger.succeed(ledger.beginDeploy({ ...old, services }), {}, "done");
    assert.equal(await says("1"), true);
  });

  it("believes what nothing is recorded about", async () => {
    assert.deepEqual([await says("1"), await says(undefined)], [true, true]);
    ledger.succeed(ledger.beginDeploy(release({}, "1")), {}, "done");
    ledger.destroyed(ledger.beginDestroy(SHOP, {}), "done");
    assert.equal(await says(undefined), true);
  });

  it("believes nothing of a recorded stack that no release of it says", async () => {
    deploy({}, "1");
    const strange = [await says("2"), await says(undefined), await says("1", JOB, "db")];
    assert.deepEqual(strange, [false, false, false]);
    const run = { ...JOB, "com.docker.compose.oneoff": "True", [LABELS.jobRun]: "7" };
    assert.equal(await says(undefined, run), false);
  });

  it("believes the container of a release that is forgotten, if that service still is a job", async () => {
    deploy(JOB, "2");
    assert.deepEqual([await says("1"), await says("1", JOB, "db")], [true, false]);
  });
});

/** A job of a stack, with these further labels. */
const job = (name: string, labels: Readonly<Record<string, string>>): FoundJob => ({
  key: { context: SHOP.context, name },
  service: "web",
  container: {
    id: name,
    name,
    service: "web",
    state: "created",
    health: "none",
    exitCode: undefined,
    imageId: "sha256:0",
    labels: { ...JOB, ...labels },
  },
  scale: 1,
  executions: [],
});

describe("calledJobs()", () => {
  it("knows those of a first release while it is being deployed", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const ours = { [LABELS.manager]: "stackwright", [LABELS.digest]: "1" };
    const called = () => calledJobs(ledger, [job(SHOP.name, ours)]);
    assert.equal((await called()).length, 0);
    const intent = ledger.beginDeploy(release(JOB, "1"));
    assert.equal((await called()).length, 1);
    ledger.succeed(intent, {}, "done");
    assert.equal((await called()).length, 1);
    ledger.destroyed(ledger.beginDestroy(SHOP, {}), "done");
    assert.equal((await called()).length, 0);
  });

  it("have the labels of their authors, and none of their image's, also of a newer release", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const wrote = { ...JOB, "cd.doco.job.schedule": "@daily", "stackwright.job.notify_on": "none" };
    ledger.succeed(ledger.beginDeploy(release(wrote, "1")), {}, "done");
    const image = {
      "stackwright.job.stop_services": "other/web",
      "stackwright.job.schedule": "@every 1s",
      "cd.doco.job.max_duration": "1s",
    };
    const made = { [LABELS.manager]: "stackwright", other: "x" };
    for (const digest of ["1", "0"]) {
      const own = { ...wrote, ...made, [LABELS.digest]: digest };
      const [found, more] = await calledJobs(ledger, [job(SHOP.name, { ...image, ...own })]);
      assert.equal(more, undefined);
      const [{ container }] = [job(SHOP.name, own)];
      assert.deepEqual(found?.container.labels, container.labels, digest);
    }
    const forged = { ...made, [LABELS.digest]: "1", "stackwright.job.enabled": "false" };
    ledger.succeed(ledger.beginDeploy(release({}, "1")), {}, "done");
    assert.deepEqual(await calledJobs(ledger, [job(SHOP.name, forged)]), []);
  });

  it("are found in a swarm, where labels also stand below deploy", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const { model, ...rest } = release({}, "1");
    const services = { web: { image: "web:1", deploy: { labels: JOB } } };
    ledger.succeed(ledger.beginDeploy({ ...rest, model: { ...model, services } }), {}, "done");
    const own = { ...JOB, [LABELS.manager]: "stackwright", [LABELS.digest]: "1" };
    assert.equal((await calledJobs(ledger, [job(SHOP.name, own)])).length, 1);
  });

  it("leaves out what another Stackwright on the engine deployed, which runs it itself", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    ledger.succeed(ledger.beginDeploy(release(JOB, "1")), {}, "done");
    const managed = { [LABELS.manager]: "stackwright", [LABELS.digest]: "1" };
    const jobs = [job(SHOP.name, managed), job("strange", managed), job("by-hand", {})];
    const called = (await calledJobs(ledger, jobs)).map(({ key }) => key.name);
    assert.deepEqual(called, [SHOP.name, "by-hand"]);
  });

  it("leaves out another manager's under the name of a stack that is ours", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const ours = release(JOB, "1");
    ledger.owners.settle(SHOP, { source: "here/ours", reference: "refs/heads/main" });
    ledger.succeed(ledger.beginDeploy(ours), {}, "done");
    const by = (source: string) =>
      job(SHOP.name, {
        [LABELS.manager]: "stackwright",
        [LABELS.digest]: "1",
        [LABELS.sourceConfiguration]: source,
      });
    const doco = { "cd.doco.source.url": "https://here.example/ours" };
    const jobs = [by("here/ours"), by("here/theirs"), job(SHOP.name, doco), job("other", doco)];
    assert.deepEqual(await calledJobs(ledger, jobs), [jobs[0]]);
    // A hand-over makes labels of the time before count.
    ledger.owners.adopt(SHOP, { source: "here/theirs", reference: "refs/heads/main" });
    assert.deepEqual(await calledJobs(ledger, jobs), jobs.slice(0, 2));
  });
});

describe("a job of a stack that was handed over", () => {
  const OURS = { source: "here/ours", reference: "refs/heads/main" };
  const labels = {
    ...JOB,
    [LABELS.manager]: "stackwright",
    [LABELS.digest]: "1",
    [LABELS.sourceConfiguration]: "here/ours",
  };
  const run = { ...labels, "com.docker.compose.oneoff": "True", [LABELS.jobRun]: "7" };
  const before = [job(SHOP.name, labels), job(SHOP.name, run)];
  const heirs = [
    { source: "here/theirs", reference: "refs/heads/main" },
    { source: "here/ours", reference: "refs/heads/edge" },
  ];
  for (const heir of heirs) {
    const digests = [["2", "is nobody's"], ["1", "is its own where it has the same"]] as const;
    for (const [digest, left] of digests) {
      it(`${left}, once ${heir.source} (${heir.reference}) has deployed it`, async () => {
        const ledger = createMemoryLedger(createFakeClock());
        ledger.owners.settle(SHOP, OURS);
        ledger.succeed(ledger.beginDeploy(release(JOB, "1")), {}, "done");
        ledger.handOver(SHOP, heir);
        assert.equal((await calledJobs(ledger, before)).length, 2);
        const made = release(digest === "1" ? JOB : {}, digest);
        ledger.succeed(ledger.beginDeploy(made), {}, "done");
        const called = await calledJobs(ledger, before);
        const isJob = (each: FoundJob) => each.container.labels[LABELS.jobRun] === undefined;
        assert.equal(called.some(isJob), digest === "1");
        if (heir.source !== OURS.source) assert.equal(called.length, digest === "1" ? 2 : 0);
      });
    }
  }
});

describe("a container that another tool put into a recorded stack", () => {
  it("is none of its jobs, nor stands for one of them", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    ledger.succeed(ledger.beginDeploy(release(JOB, "1")), {}, "done");
    const ours = { ...JOB, [LABELS.manager]: "stackwright", [LABELS.digest]: "1" };
    const run = { ...JOB, "com.docker.compose.oneoff": "True", [LABELS.jobRun]: "7" };
    const engine = createMemoryEngine([
      runningContainer("shop", "web", { id: "ours", state: "created", labels: ours }),
      runningContainer("shop", "web", { id: "forged", labels: JOB }),
      runningContainer("shop", "web", { id: "forged-run", labels: run }),
      runningContainer("shop", "zz", { id: "other", labels: JOB }),
      runningContainer("by-hand", "web", { id: "by-hand", labels: JOB }),
    ]);
    const never = new AbortController().signal;
    const found = await findJobs(engine, { context: SHOP.context, isManager: false }, never);
    const called = await calledJobs(ledger, found);
    assert.deepEqual(called.map(({ container }) => container.id), ["by-hand", "ours"]);
    assert.deepEqual(called.map(({ scale }) => scale), [1, 1]);
    assert.deepEqual(called.flatMap(({ executions }) => executions), []);
  });
});

describe("a run of a job whose own container is gone", () => {
  it("stands for the job, to be taken over", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    ledger.succeed(ledger.beginDeploy(release(JOB, "1")), {}, "done");
    const ours = { ...JOB, [LABELS.manager]: "stackwright", [LABELS.digest]: "1" };
    const labels = { ...ours, "com.docker.compose.oneoff": "True", [LABELS.jobRun]: "7" };
    const name = "shop-web-1-stackwright-job-7";
    const run = runningContainer("shop", "web", { id: "run", name, labels });
    const never = new AbortController().signal;
    const find = async (...all: ReturnType<typeof runningContainer>[]) => {
      const place = { context: SHOP.context, isManager: false };
      const jobs = await calledJobs(ledger, await findJobs(createMemoryEngine(all), place, never));
      return jobs.map(({ container, scale, executions }) => [
        ...[container.id, scale],
        ...executions.map(({ id }) => id),
      ]);
    };
    assert.deepEqual(await find(run), [["run", 0, "run"]]);
    const own = runningContainer("shop", "web", { id: "own", state: "created", labels: ours });
    assert.deepEqual(await find(run, own), [["own", 1, "run"]]);
  });
});

describe("a stack of many jobs", () => {
  it("has its releases read once for all of them", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    ledger.succeed(ledger.beginDeploy(release(JOB, "1")), {}, "done");
    let reads = 0;
    const counting = {
      current: (key: typeof SHOP) => (reads++, ledger.current(key)),
      history: (key: typeof SHOP, count: number) => (reads++, ledger.history(key, count)),
      services: (each: Parameters<Ledger["services"]>[0]) => (reads++, ledger.services(each)),
      open: (each: Parameters<Ledger["open"]>[0]) => (reads++, ledger.open(each)),
      owners: ledger.owners,
    };
    const labels = { ...JOB, [LABELS.digest]: "1", [LABELS.manager]: "x" };
    const jobs = Array.from({ length: 300 }, () => job("shop", labels));
    assert.equal((await calledJobs(counting, jobs)).length, jobs.length);
    assert.ok(reads < 10, `${reads} reads`);
  });
});
