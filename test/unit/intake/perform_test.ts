import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Conclude,
  type Execute,
  perform,
  type Performers,
} from "../../../src/intake/perform.ts";
import { PollFailures } from "../../../src/intake/poll_failures.ts";
import {
  ofSource,
  stackKey,
  StackwrightError,
  type Sync,
  type Work,
} from "../../../src/model/mod.ts";
import { createRuns } from "../../../src/record/runs.ts";
import { createRedactor, sourceAsOwner, stackAsOwner } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog, writtenLines } from "../../fakes/recording_log.ts";

const SECRET = "s3cr3t-t0k3n";
const work: Sync = { kind: "sync", trigger: "webhook", origin: "automatic", sources: [] };
const open = new AbortController().signal;

/** Says what it was told, so that a test sees both. */
const conclude: Conclude = (targets, { failures }) =>
  failures.length > 0 || targets.some(({ status }) => status !== "succeeded")
    ? { status: "failed", message: failures.join("|") || "targets failed" }
    : { status: "succeeded", message: `${targets.length} targets` };

/** Performs work in a run that is open; `run()` shows that run. */
function createPerformance(
  execute: Execute,
  { asked = work, ...more }: {
    readonly conclude?: Conclude;
    readonly asked?: Work;
    readonly pollFailures?: PollFailures;
    readonly performers?: Performers;
  } = {},
) {
  const log = createRecordingLog();
  const runs = createRuns({ clock: createFakeClock() });
  const redactor = createRedactor();
  redactor.add(SECRET);
  redactor.add("settled", sourceAsOwner("h/loud"));
  runs.accept({ id: "run-1", trigger: asked.trigger });
  const pollFailures = new PollFailures();
  const performers: Performers = { sync: execute };
  const parts = { runs, redactor, log, conclude, performers, pollFailures, ...more };
  return {
    log,
    redactor,
    run: () => runs.get("run-1"),
    perform: (signal = open) => perform({ id: "run-1", work: asked }, parts, signal),
  };
}

describe("perform()", () => {
  it("waits for the secrets of its stack: what is stored as *** stays so", async () => {
    const only = stackKey("", "shop");
    const performance = createPerformance((_work, reporter) => {
      reporter.target({ ...only, stack: "shop", status: "succeeded", message: "it is healthy" });
      return Promise.resolve();
    }, { asked: { ...work, only } });
    let isKnown = false;
    performance.redactor.asks(() => isKnown, async () => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      isKnown = true;
    });
    const end = await performance.perform();
    assert.equal(end.message, "1 targets");
    assert.equal(performance.run()?.targets[0]?.message, "it is healthy");
  });

  it("starts the run, then ends it with the conclusion, and says so", async () => {
    const seen: unknown[] = [];
    const performance = createPerformance((given, reporter) => {
      seen.push(given, performance.run()?.status);
      reporter.describe({ revision: "main (1)" });
      reporter.target({ context: "default", stack: "shop", status: "succeeded" });
      return Promise.resolve();
    });
    const end = await performance.perform();
    assert.deepEqual(seen, [work, "running"]);
    assert.deepEqual([end.status, end.message, end.revision], [
      "succeeded",
      "1 targets",
      "main (1)",
    ]);
    assert.deepEqual(performance.run(), end);
    const lines = performance.log.lines.map(({ level, message, fields }) => [
      level,
      message,
      fields["job_id"],
    ]);
    assert.deepEqual(lines, [["info", "run succeeded", "run-1"]]);
  });

  it("says a poll's failure once also where a poll in between was cut off", async () => {
    const pollFailures = new PollFailures();
    const asked = { ...work, trigger: "poll" } as const;
    const fails = () => Promise.reject(new StackwrightError("repository_unreachable", "no host"));
    const levels: unknown[] = [];
    for (const signal of [open, AbortSignal.abort(new Error("the service ends")), open]) {
      const { perform, log } = createPerformance(fails, { asked, pollFailures });
      await perform(signal);
      levels.push(log.lines.at(-1)?.level);
    }
    assert.deepEqual(levels, ["error", "error", "debug"]);
  });

  it("ends a run whose work throws as failed, redacted, with its open targets", async () => {
    const { perform } = createPerformance((_work, reporter) => {
      reporter.target({ context: "default", stack: "a", status: "running" });
      reporter.target({ context: "default", stack: "b", status: "pending" });
      reporter.target({ context: "default", stack: "c", status: "succeeded" });
      return Promise.reject(new StackwrightError("pull_failed", `pull with ${SECRET} failed`));
    });
    const end = await perform();
    assert.deepEqual([end.status, end.message], ["failed", "pull with *** failed"]);
    const targets = end.targets.map(({ stack, status, message }) => [stack, status, message]);
    assert.deepEqual(targets, [
      ["a", "failed", "pull with *** failed"],
      ["b", "failed", "pull with *** failed"],
      ["c", "succeeded", undefined],
    ]);
  });

  for (const [repository, shown] of [["h/loud", "***"], ["h/quiet", "settled"]] as const) {
    it(`masks words of a source in runs of it alone: ${repository}`, async () => {
      const { perform, run, log, redactor } = createPerformance((_work, reporter) => {
        reporter.describe({ repository, message: "resolving settled" });
        assert.equal(run()?.message, `resolving ${shown}`);
        reporter.describe({ message: "reading settled" });
        assert.equal(run()?.message, `reading ${shown}`);
        reporter.target({ context: "default", stack: "a", status: "running", message: "settled" });
        assert.equal(run()?.targets[0]?.message, shown);
        return Promise.reject(new StackwrightError("config_invalid", "it is settled"));
      });
      assert.equal((await perform()).message, `it is ${shown}`);
      const lines = writtenLines(log.lines, redactor).filter((line) => line.includes("it is "));
      assert.deepEqual(lines.map((line) => line.includes(`it is ${shown}`)), [true, true]);
    });
  }

  it("masks words of each of several sources in what is of it alone", async () => {
    const { perform, log, redactor } = createPerformance((_work, reporter) => {
      const target = { context: "default", status: "failed", message: "settled" } as const;
      reporter.target({ ...target, stack: "a" }, ["h/loud"]);
      reporter.target({ ...target, stack: "b" }, ["h/quiet"]);
      const failed = new StackwrightError("config_invalid", "it is settled");
      return Promise.reject(
        new AggregateError(["h/loud", "h/quiet"].map((each) => ofSource(failed, each))),
      );
    });
    const end = await perform();
    assert.equal(end.message, "it is ***|it is settled");
    assert.deepEqual(end.targets.map(({ message }) => message), ["***", "settled"]);
    const lines = writtenLines(log.lines, redactor).join("");
    assert.match(lines, /"repository":"h\/loud","error":"config_invalid: it is \*\*\*"/);
  });

  it("masks what a stack was made of also after the run has removed it", async () => {
    const shop = { context: "default", stack: "shop" };
    const owner = stackAsOwner(stackKey("", "shop"));
    const { perform, redactor } = createPerformance((_work, reporter) => {
      redactor.forget(owner);
      reporter.target({ ...shop, status: "succeeded", message: "removed hunterwolf" });
      return Promise.resolve();
    });
    redactor.belongs(owner, sourceAsOwner("h/config"), sourceAsOwner("h/app"));
    redactor.add("hunterwolf", sourceAsOwner("h/app"));
    const end = await perform();
    assert.deepEqual(end.targets.map(({ message }) => message), ["removed ***"]);
    assert.equal(redactor.redact("hunterwolf", owner), "hunterwolf");
  });

  it("logs a failure once: what its targets have said is not said again", async () => {
    const { perform, log } = createPerformance((_work, reporter) => {
      const target = { context: "default", stack: "shop", message: "web is unhealthy" };
      reporter.target({ ...target, status: "failed" });
      return Promise.resolve();
    });
    await perform();
    const [line, ...more] = log.lines;
    assert.deepEqual([line?.level, line?.message, more], ["info", "run failed", []]);
    assert.deepEqual(line?.fields["failed"], ["shop"]);
    assert.ok(!JSON.stringify(line).includes("unhealthy"));
  });

  it("logs the failure of a job as an error, of what its container printed only the last line", async () => {
    const printed = `exited with status 3; last output:\nbegun\noops ${"x".repeat(600)}`;
    const job = { kind: "job", trigger: "scheduled_job", origin: "automatic" } as const;
    const asked = { ...job, key: stackKey("", "shop"), service: "backup" };
    const performers: Performers = {
      job(_work, reporter) {
        reporter.target({ context: "default", stack: "shop", status: "failed", message: printed });
        return Promise.resolve();
      },
    };
    const conclude: Conclude = () => ({ status: "failed", message: printed });
    const { perform, log } = createPerformance(() => Promise.resolve(), {
      ...{ asked, conclude, performers },
    });
    const end = await perform();
    assert.equal(end.message, printed);
    assert.deepEqual(log.lines.map(({ level, message }) => [level, message]), [
      ["error", "run failed"],
    ]);
    assert.equal(
      log.lines[0]?.fields["message"],
      `${`exited with status 3: oops ${"x".repeat(600)}`.slice(0, 500)}…`,
    );
  });

  it("masks words of its only stack in what ended it, of which no target was told", async () => {
    const about = stackKey("", "shop");
    const asked = { ...work, only: about };
    const fails = () => Promise.reject(new StackwrightError("unhealthy", "it said hunterwolf"));
    const performance = createPerformance(fails, { asked });
    performance.redactor.add("hunterwolf", stackAsOwner(about));
    const end = await performance.perform();
    assert.equal(end.message, "it said ***");
    const lines = writtenLines(performance.log.lines, performance.redactor).join("");
    assert.doesNotMatch(lines, /hunterwolf/);
  });

  it("asks for no secrets of a stack of which it is only said that nothing changed", async () => {
    const asked: string[] = [];
    const performance = createPerformance((_work, reporter) => {
      const shop = { context: "default", stack: "shop", revision: "main (1)" };
      reporter.target({ ...shop, status: "pending" });
      reporter.target({ ...shop, status: "skipped", message: "no changes" });
      assert.deepEqual(asked, []);
      reporter.target({ ...shop, status: "failed", message: "web said no" });
      return Promise.resolve();
    });
    performance.redactor.asks(({ name }) => asked.push(name) > 0);
    await performance.perform();
    assert.ok(asked.includes("shop"));
  });

  it("hands every error of an AggregateError to the conclusion", async () => {
    const errors = ["one", "two"].map((text) => new StackwrightError("deploy_failed", text));
    const { perform } = createPerformance(() => Promise.reject(new AggregateError(errors)));
    assert.equal((await perform()).message, "one|two");
  });

  it("redacts what the work reports", async () => {
    const { perform } = createPerformance((_work, reporter) => {
      reporter.describe({ repository: `https://u:${SECRET}@example.org` });
      const message = `echo ${SECRET}`;
      reporter.target({ context: "default", stack: "a", status: "succeeded", message });
      return Promise.resolve();
    });
    const end = await perform();
    assert.deepEqual([end.repository, end.targets[0]?.message], [
      "https://***@example.org",
      "echo ***",
    ]);
  });

  const crashes: [string, unknown][] = [
    ["a foreign error", new TypeError("x of undefined")],
    ["an internal error", new StackwrightError("internal", "BUG: x")],
    ["no error at all", "text"],
  ];
  for (const [name, thrown] of crashes) {
    it(`shows ${name} as a fixed text and logs it in full`, async () => {
      const { perform, log } = createPerformance(() => Promise.reject(thrown));
      const end = await perform();
      assert.equal(end.message, "webhook run crashed; the log has the details");
      const line = log.lines.find(({ message }) => message.startsWith("BUG"));
      assert.deepEqual([line?.level, line?.fields["error"]], ["error", thrown]);
      assert.equal(line?.fields["job_id"], end.id);
    });
  }

  it("survives work that throws before it returns a promise", async () => {
    const { perform } = createPerformance(() => {
      throw new StackwrightError("deploy_failed", "at once");
    });
    assert.equal((await perform()).message, "at once");
  });

  it("fails the run when nobody can say what it amounts to", async () => {
    const { perform, log } = createPerformance(() => Promise.resolve(), {
      conclude: () => {
        throw new TypeError("no");
      },
    });
    const end = await perform();
    assert.deepEqual([end.status, end.message], [
      "failed",
      "webhook run crashed; the log has the details",
    ]);
    assert.ok(log.lines.some(({ message }) => message.startsWith("BUG")));
  });

  it("does not begin work that was cancelled, and says who cancelled it", async () => {
    const { perform } = createPerformance(() => assert.fail("it began"));
    const reason = new StackwrightError("cancelled", "somebody did");
    const end = await perform(AbortSignal.abort(reason));
    assert.deepEqual([end.status, end.message], ["failed", "somebody did"]);
  });

  it("does not speak of a cancellation that the work outran", async () => {
    const controller = new AbortController();
    const { perform } = createPerformance(() => {
      controller.abort(new StackwrightError("cancelled", "too late"));
      return Promise.resolve();
    });
    assert.equal((await perform(controller.signal)).message, "0 targets");
  });

  it("fails a run whose kind of work nobody does, and says which", async () => {
    const key = stackKey("", "shop");
    const origin = "automatic";
    const asked = { kind: "job", trigger: "scheduled_job", origin, key, service: "db" } as const;
    const performance = createPerformance(() => assert.fail("it is no sync"), { asked });
    const end = await performance.perform();
    const message = "this version of Stackwright does no work of the kind job";
    assert.deepEqual([end.status, end.message], ["failed", message]);
  });
});
