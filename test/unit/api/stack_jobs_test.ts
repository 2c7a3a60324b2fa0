import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackJobs } from "../../../src/api/stack_jobs.ts";
import { errors, type Run, type RunTarget } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";

const AT = new Date("2026-03-10T12:00:00Z");
const NEXT = new Date("2026-03-11T03:00:00Z");
const KEY = { context: "default", name: "shop" };

function job(service: string, schedule = "0 3 * * *", name = "shop") {
  const container = runningContainer(name, service, {
    labels: { "stackwright.job.enabled": "true", "stackwright.job.schedule": schedule },
  });
  return { key: { ...KEY, name }, service, container, scale: 1, executions: [] };
}

function runOf(name: string, status: Run["status"], message: string, stack = "shop"): Run {
  return {
    id: `${name} ${status}`,
    trigger: "scheduled_job",
    status,
    repository: `scheduled:shop-${name}-1`,
    target: stack,
    revision: "",
    message: "",
    targets: [{
      context: "default",
      stack,
      status: status as RunTarget["status"],
      message,
    }],
    createdAt: AT,
    updatedAt: AT,
    finishedAt: AT,
  };
}

function nextRun(schedule: string): Date {
  if (schedule.startsWith("61 ")) throw errors.bad_request("no schedule");
  return NEXT;
}

/** The jobs of a stack, with these runs, the newest first. */
async function jobsOf(jobs: ReturnType<typeof job>[], runs: readonly Run[], only?: string) {
  const observed = new Map([["default", { jobs, stacks: new Map(), stopped: new Map() }]]);
  const facts = { runs: { list: () => [...runs] }, nextRun };
  return (await stackJobs(observed, facts, only)).get("default/shop") ?? [];
}

describe("stackJobs()", () => {
  it("tells how the last run of a job ended, when, and when the next one is", async () => {
    const runs = [runOf("backup", "running", "running"), runOf("backup", "failed", "disk full")];
    const lastRun = { id: "backup failed", status: "failed", endedAt: AT, message: "disk full" };
    const told = [{ service: "backup", schedule: "0 3 * * *", lastRun, nextRunAt: NEXT }];
    assert.deepEqual(await jobsOf([job("backup")], runs), told);
    assert.deepEqual(await jobsOf([job("backup")], runs, "shop"), told);
  });

  it("has in a list only the jobs whose last run failed, with short words", async () => {
    const runs = [
      runOf("good", "succeeded", "job good has run"),
      runOf("good", "failed", "before"),
      runOf("bad", "failed", "x".repeat(2000)),
      runOf("other", "failed", "of another stack", "blog"),
    ];
    const jobs = [job("bad", "@every 5m"), job("good"), job("idle"), job("other")];
    const [bad, ...more] = await jobsOf(jobs, runs);
    assert.deepEqual([bad?.service, more], ["bad", []]);
    assert.equal(bad?.lastRun?.message.length, 300);
    // The interval counts from the last start, which only the service knows.
    assert.equal(bad?.nextRunAt, undefined);
    const all = await jobsOf(jobs, runs, "shop");
    assert.deepEqual(all.map(({ service, lastRun }) => [service, lastRun?.status]), [
      ["bad", "failed"],
      ["good", "succeeded"],
      ["idle", undefined],
      ["other", undefined],
    ]);
  });

  it("has the end of what a job printed, which says why it failed", async () => {
    const printed = `${"line\n".repeat(1000)}bad`;
    const runs = [runOf("backup", "failed", `exited with status 5; last output:\n${printed}`)];
    const [listed] = await jobsOf([job("backup")], runs);
    assert.equal(listed?.lastRun?.message, "exited with status 5: bad");
    const [told] = await jobsOf([job("backup")], runs, "shop");
    const { message = "" } = told?.lastRun ?? {};
    assert.match(message, /^exited with status 5; last output:\nline\n.*\nbad$/s);
    assert.ok(message.length < 1100);
  });

  it("tells how a container ended that a run has only started", async () => {
    const { container, ...started } = job("backup");
    const ended = {
      ...started,
      container: { ...container, state: "exited", exitCode: 4 } as const,
    };
    const runs = [runOf("backup", "succeeded", "job backup was started")];
    const [told] = await jobsOf([ended], runs);
    const { status, message = "" } = told?.lastRun ?? {};
    assert.deepEqual([status, message.slice(-20)], ["failed", "exited with status 4"]);
    const waitedFor = [runOf("backup", "succeeded", "job backup has run")];
    assert.deepEqual(await jobsOf([ended], waitedFor), []);
  });

  it("leaves out what is not run: other stacks, wrong labels, and too many", async () => {
    const jobs = [job("web", "nonsense"), job("web", "0 3 * * *", "blog")];
    assert.deepEqual(await jobsOf(jobs, [], "shop"), []);
    const never = [{ service: "web", schedule: "61 3 * * *" }];
    assert.deepEqual(await jobsOf([job("web", "61 3 * * *")], [], "shop"), never);
    const many = Array.from({ length: 200 }, (_, at) => job(`job${at}`));
    assert.equal((await jobsOf(many, [], "shop")).length, 100);
  });
});
