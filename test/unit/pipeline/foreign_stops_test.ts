import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Revision, stackKey } from "../../../src/model/mod.ts";
import { warnOfForeignStops } from "../../../src/pipeline/owner/foreign_stops.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const reference = "refs/heads/main";
const revision = (name: string): Revision => (
  { source: { kind: "git", url: `https://${name}`, name }, reference, id: "a".repeat(40) }
);

describe("the warning of a job that stops another source's stack", () => {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.owners.settle(stackKey("", "theirs"), { source: "h/o/home", reference });
  ledger.owners.settle(stackKey("", "ours"), { source: "h/o/jobs", reference });
  const said = (stops: string, enabled = "true") => {
    const log = createRecordingLog();
    const labels = {
      "cd.doco.job.enabled": enabled,
      "cd.doco.job.schedule": "@daily",
      "cd.doco.job.stop_services": stops,
    };
    const model = { services: { web: {}, backup: { labels } } };
    const target = { key: stackKey("", "jobs"), configuration: revision("h/o/jobs") };
    warnOfForeignStops({ ledger, log }, target, { model });
    return log.lines.map(({ message }) => message);
  };

  it("names it and its source, once", () => {
    const [text = "", ...more] = said("web, theirs/db, theirs/app");
    assert.match(
      text,
      /^service backup: .* theirs, which runs from h\/o\/home \(refs\/heads\/main\)/,
    );
    assert.deepEqual(more, []);
  });

  it("is not given of one's own, of nobody's, nor of a job that is off", () => {
    assert.deepEqual(said("web, jobs/web, ours/db, nobody/db"), []);
    assert.deepEqual(said("theirs/db", "false"), []);
  });
});
