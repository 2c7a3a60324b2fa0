import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeploymentDetail } from "../../../src/api/mod.ts";
import { explainText } from "../../../src/cli/explain_command.ts";
import { formatDrift } from "../../../src/model/mod.ts";

const DETAIL: DeploymentDetail = {
  ...{ name: "blog", context: "default", state: "failed", why: "web exited with 1" },
  ...{ health: "healthy", running: 1, wanted: 1, decisions: [] },
  current: {
    ...{ number: 1, status: "deployed", current: true, message: "first", created_at: "12:00" },
    ...{ repository: "host/blog", reference: "main", revision: "a".repeat(40), services: [] },
  },
} as unknown as DeploymentDetail;

const FAILURE = {
  ...{ release: "x", failures: 1, failures_by_hand: 0, automatic_attempts: 0 },
  ...{ last_failed_at: "2026-03-10T12:00:00Z", message: "web exited with 1" },
};

const linesOf = (detail: Partial<DeploymentDetail>) =>
  explainText({ ...DETAIL, ...detail }, (text) => text.slice(11, 19)).split("\n");

describe("explainText()", () => {
  it("says after a failure what was put back, and when the next attempt is", () => {
    const retry = { retry_at: "2026-03-10T12:00:10Z", rolled_back: 2 };
    const [, state, last] = linesOf({ failure: FAILURE, ...retry });
    assert.equal(
      state,
      "failed, healthy 1/1: release 2 failed, and release 1 was put back; next try 12:00:10",
    );
    assert.equal(last, "last failure 12:00:00 (once): web exited with 1");
  });

  it("says of a held stack that it is down, and how the hold ends", () => {
    const hold = { reason: "", held_at: "2026-03-10T12:00:00Z" };
    const held = { hold, state: "held", health: "stopped", running: 0 } as const;
    const [, state, until] = linesOf({ ...held, why: "held", drifted: "blog-web-1 exited with 7" });
    assert.equal(state, "held, stopped 0/1: blog-web-1 exited with 7");
    assert.equal(until, "held by a person since 12:00:00 until stackwright resume blog");
  });

  it("promises no mending of a stopped stack, nor of one whose removal failed", () => {
    const drift = [{ service: "web", field: "containers", wanted: "1", found: "0" }];
    assert.match(linesOf({ drift })[3] ?? "", /^ {2}mended by the next poll/);
    const why = "blog was stopped over the API";
    const stopped = linesOf({ drift, state: "held", why, stopped_at: "2026-03-10T12:00:00Z" });
    assert.deepEqual(
      [stopped[1], stopped[3]],
      [
        "held, healthy 1/1: blog was stopped over the API",
        "  not mended before it is started again",
      ],
    );
    const removed = linesOf({ drift, failure: { ...FAILURE, removal: true } });
    assert.match(removed[3] ?? "", /^ {2}not mended: it is being removed; it comes back if/);
  });

  it("says of a kept orphan once what its state says already", () => {
    const container = "blog-old-1";
    const drift = [{ service: "old", container, field: "service", wanted: "none", found: "old" }];
    const orphan = formatDrift({ ...drift[0]!, container: { id: "", name: container } });
    const said = (why: string) =>
      linesOf({ drift, state: "synced", why }).join("\n").split(orphan).length - 1;
    assert.deepEqual([said(`release 1 runs; ${orphan}`), said("release 1 runs")], [1, 1]);
  });

  it("says whose a stack is that was handed over, and who was refused it", () => {
    const of = (source: string) => ({ source, reference: "" });
    const owner = { ...of("h/new"), handed_over: true, refused: [of("h/old")] };
    assert.deepEqual(linesOf({ owner: { ...owner, former: of("h/old") } }).slice(2, 4), [
      "belongs to h/new, to which it was handed over; release 1 is of h/old",
      "refused to h/old, which names it too; stackwright adopt blog --source h/old hands it over",
    ]);
    const [, , plain] = linesOf({ owner: { ...owner, handed_over: false, refused: [] } });
    assert.equal(plain, "");
  });

  it("calls the newest failure the last one, also where it made no release", () => {
    const error = {
      ...{ number: 1, kind: "error", message: "compose.yaml:3: wrong", times: 2 },
      ...{ first_at: "2026-03-10T12:00:08Z", last_at: "2026-03-10T12:00:09Z" },
      ...{ trigger: "poll", origin: "automatic", revision: "main", changes: [], services: [] },
    } as DeploymentDetail["decisions"][number];
    const why = error.message;
    const [, state, last, before] = linesOf({ failure: FAILURE, decisions: [error], why });
    assert.equal(state, "failed, healthy 1/1");
    assert.equal(last, "last failure 12:00:09 (2 times): compose.yaml:3: wrong");
    assert.equal(before, "before that 12:00:00 (once): web exited with 1");
    const older = { ...error, last_at: "2026-03-10T11:00:00Z" };
    assert.match(
      linesOf({ failure: FAILURE, decisions: [older] })[2] ?? "",
      /^last failure 12:00:00/,
    );
  });

  it("has a line for each job: its schedule, its last run, and its next one", () => {
    const job = { service: "backup", schedule: "0 3 * * *" };
    const ended = { job_id: "1", ended_at: "2026-03-10T12:30:15Z" };
    const next = { next_run_at: "2026-03-11T03:00:00Z" };
    const failed = { ...ended, status: "failed", message: "exited with status 4" } as const;
    const fine = { ...ended, status: "succeeded", message: "has run" } as const;
    const jobs = [{ ...job, ...next, last_run: failed }, { ...job, last_run: fine }, job];
    const [, , ...lines] = linesOf({ state: "synced", why: "release 1 runs", jobs });
    const said = { ...failed, message: "exited with status 4; last output:\nbegun\nbad" };
    const [, , long, ...rest] = linesOf({
      ...{ state: "synced", why: "release 1 runs", jobs: [{ ...job, ...next, last_run: said }] },
    });
    assert.match(
      long ?? "",
      /failed 12:30:15; next run 03:00:00: exited with status 4; last output:$/,
    );
    assert.deepEqual(rest.slice(0, 2), ["  begun", "  bad"]);
    assert.deepEqual(lines.slice(0, 3), [
      "job backup (0 3 * * *): its last run failed 12:30:15: exited with status 4; next run 03:00:00",
      "job backup (0 3 * * *): its last run succeeded 12:30:15",
      "job backup (0 3 * * *): no run in the last week is known",
    ]);
  });
});
