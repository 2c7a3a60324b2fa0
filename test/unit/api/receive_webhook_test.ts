import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { receiveWebhookOperation, webhookResult } from "../../../src/api/mod.ts";
import { createIntake, type Execute } from "../../../src/intake.ts";
import { type SourceRequest, StackwrightError } from "../../../src/model/mod.ts";
import { reduceTargets } from "../../../src/plan/mod.ts";
import { createRuns } from "../../../src/record/runs.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

function createWorld(execute: Execute) {
  const clock = createFakeClock();
  const runs = createRuns({ clock });
  let count = 0;
  const intake = createIntake({
    runs,
    performers: { sync: execute },
    conclude: (targets, facts) => reduceTargets(targets, { ...facts, formatTime: String }),
    clock,
    ids: { next: () => `run-${++count}` },
    redactor: createRedactor(),
    log: createRecordingLog(),
  });
  return { clock, runs, receive: receiveWebhookOperation({ intake }) };
}

const source = (rest: Partial<SourceRequest>): SourceRequest => ({
  kind: "git",
  url: "https://u:p@git.example.org/acme/shop.git",
  reference: "refs/heads/main",
  target: "",
  deployments: [],
  ...rest,
});
const deploy = (...sources: SourceRequest[]) => ({ kind: "deploy" as const, sources });
const shop = { context: "default", stack: "shop", status: "succeeded" } as const;

describe("receiveWebhook", () => {
  it("begins with one that comes alone after a moment, and with the others when no more come", async () => {
    const begun: string[] = [];
    const { receive, clock } = createWorld(({ sources: [first] }) => {
      begun.push(first?.reference ?? "");
      return Promise.resolve();
    });
    const push = (...references: string[]) =>
      receive.call(deploy(...references.map((reference) => source({ reference }))), {
        wait: false,
      });
    await push("a", "b");
    await clock.advance(1);
    assert.deepEqual(begun, ["a", "b"], "all that the first one is about");
    await push("c");
    const joined = await push("c");
    await settle();
    assert.deepEqual(begun, ["a", "b"]);
    await clock.advance(1000);
    assert.deepEqual(begun, ["a", "b", "c"]);
    assert.equal(joined.job_id, "run-3");
    await push("d");
    await clock.advance(1);
    assert.deepEqual(begun, ["a", "b", "c", "d"]);
  });

  it("gives each reference a run of its own and answers with the first", async () => {
    const { receive, runs } = createWorld(() => Promise.resolve());
    const sources = ["refs/heads/main", "refs/tags/v1"].map((reference) => source({ reference }));
    const result = await receive.call(deploy(...sources), { wait: false });
    assert.deepEqual(webhookResult.parse(result), {
      outcome: "accepted",
      message: "job accepted",
      job_id: "run-1",
      repository: "git.example.org/acme/shop",
    });
    assert.deepEqual(
      runs.list({ limit: 9 }).map(({ trigger, repository }) => [trigger, repository]),
      [
        ["webhook", "git.example.org/acme/shop"],
        ["webhook", "git.example.org/acme/shop"],
      ],
    );
  });

  it("answers with the reference that failed when it waits for several", async () => {
    const { receive, clock } = createWorld(({ sources }, reporter) => {
      if (sources[0]?.reference === "refs/tags/v1") {
        throw new StackwrightError("reference_not_found", "there is no v1");
      }
      reporter.target(shop);
      return Promise.resolve();
    });
    const sources = ["refs/heads/main", "refs/tags/v1", "refs/heads/x"];
    const request = deploy(...sources.map((reference) => source({ reference })));
    const answer = receive.call(request, { wait: true });
    await clock.advance(1);
    const { outcome, message, job_id } = await answer;
    assert.deepEqual([outcome, message, job_id], ["failed", "there is no v1", "run-2"]);
  });

  const first = source({ identity: "git.example.org/acme/shop" });
  const others: [string, SourceRequest, boolean][] = [
    ["the same again", first, true],
    ["the same by another URL", source({ ...first, url: "git@git.example.org:acme/shop" }), true],
    [
      "another repository by the case of a letter",
      source({ identity: "git.example.org/Acme/shop" }),
      false,
    ],
    ["another repository", source({ identity: "git.example.org/acme/other" }), false],
    ["another reference", source({ ...first, reference: "refs/heads/x" }), false],
    ["another target", source({ ...first, target: "edge" }), false],
    ["an artifact", source({ kind: "oci", url: "git.example.org/acme/shop:v1" }), false],
  ];
  for (const [what, other, joins] of others) {
    it(`${joins ? "joins" : "does not join"} the run that waits for ${what}`, async () => {
      const { receive, clock } = createWorld(() => new Promise(() => {}));
      const jobs = [];
      for (const each of [first, first, other]) {
        jobs.push((await receive.call(deploy(each), { wait: false })).job_id);
        await clock.advance(1);
      }
      assert.deepEqual(jobs, ["run-1", "run-2", joins ? "run-2" : "run-3"]);
    });
  }
});
