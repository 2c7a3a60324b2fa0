import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ObservedContainer, type Revision, stackKey } from "../../../src/model/mod.ts";
import { warnOfForeignStops } from "../../../src/pipeline/owner/foreign_stops.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const reference = "refs/heads/main";
const revision = (name: string): Revision => (
  { source: { kind: "git", url: `https://${name}`, name }, reference, id: "a".repeat(40) }
);

describe("the warning of a job that stops another source's stack", () => {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.owners.settle(stackKey("", "theirs"), { source: "h/o/home", reference });
  ledger.owners.settle(stackKey("", "ours"), { source: "h/o/jobs", reference });
  const running = (project: string, url: string, reference = "main") => ({
    labels: {
      ...{ "com.docker.compose.project": project, "cd.doco.source.url": url },
      "cd.doco.deployment.target.ref": reference,
    },
  });
  const containers = [
    running("peers", "https://me@h.example/o/db.git"),
    running("mine", "https://h.example/o/jobs"),
    running("dev", "https://h.example/o/jobs", "dev"),
    running("tag", "https://h.example/o/jobs", "refs/tags/v1"),
    running("ours", "https://h.example/o/before"),
  ];
  const said = async (stops: string, enabled = "true", jobs = ["backup"]) => {
    const log = createRecordingLog();
    const labels = {
      "cd.doco.job.enabled": enabled,
      "cd.doco.job.schedule": "@daily",
      "cd.doco.job.stop_services": stops,
    };
    const all = Object.fromEntries(jobs.map((service) => [service, { labels }]));
    const model = { services: { web: {}, ...all } };
    const target = { key: stackKey("", "jobs"), configuration: revision("h/o/jobs") };
    const engine = {
      listContainers: () => Promise.resolve(containers as unknown as ObservedContainer[]),
    };
    const options = { reachedAs: () => ["https://h.example/o/jobs.git"] };
    const parts = { ledger, log, host: { engine }, options };
    await warnOfForeignStops(parts, target, { model }, new AbortController().signal);
    return log.lines.map(({ message }) => message);
  };

  it("names it and its source, once", async () => {
    const [text = "", ...more] = await said("web, theirs/db, theirs/app");
    assert.match(
      text,
      /^service backup: .* theirs, which runs from h\/o\/home \(refs\/heads\/main\)/,
    );
    assert.deepEqual(more, []);
  });

  it("names one that is deployed by another manager until now, by its labels", async () => {
    const [text = "", ...more] = await said("peers/db, mine/db");
    assert.match(
      text,
      /^service backup: .* peers, which runs from https:\/\/h.example\/o\/db.git: .* once /,
    );
    assert.deepEqual(more, []);
  });

  it("names one of another branch, by its labels", async () => {
    const [text = "", ...more] = await said("dev/db, tag/db");
    assert.match(text, / dev, which runs from h\/o\/jobs \(refs\/heads\/dev\): .* once /);
    assert.deepEqual(more, []);
  });

  it("is one for each stack, and ten for a deployment, however many services have such jobs", async () => {
    const jobs = Array.from({ length: 400 }, (_, at) => `job${at}`);
    const stacks = Array.from({ length: 100 }, (_, at) => `theirs${at}`);
    for (const stack of stacks) {
      ledger.owners.settle(stackKey("", stack), { source: "h/o/home", reference });
    }
    const [text = "", ...more] = await said(stacks.join("/a,") + "/a", "true", jobs);
    assert.match(text, /^service job0, .*job9 and 390 more: its job stops services of theirs0,/);
    assert.equal(more.length, 10);
    assert.match(more[9] ?? "", /90 more stacks of other sources/);
  });

  it("names the other context of the engine that deploys one's own", async () => {
    const there = stackKey("same", "beside");
    ledger.owners.settle(there, { source: "h/o/jobs", reference });
    const release = { ...releaseOf(there, "1"), revision: revision("h/o/jobs") };
    ledger.succeed(ledger.beginDeploy(release), {}, "done");
    assert.deepEqual(await said("beside/db"), []);
    for (const context of ["default", "same"]) {
      ledger.owners.noteEngine(context, { id: "a", cluster: "" });
    }
    const [text = "", ...more] = await said("beside/db");
    assert.match(text, /beside, which runs from the same source by context same, .* are refused,/);
    assert.deepEqual(more, []);
  });

  it("is not given of one's own, of nobody's, nor of a job that is off", async () => {
    assert.deepEqual(await said("web, jobs/web, ours/db, nobody/db, mine/db"), []);
    assert.deepEqual(await said("theirs/db", "false"), []);
  });
});
