import assert from "node:assert/strict";
import { it } from "node:test";
import { runUnderWay } from "../../../src/app/run_under_way.ts";
import { type Run, stackKey } from "../../../src/model/mod.ts";

it("runUnderWay() names the run that works on a stack, with its step", () => {
  const run = (facts: Partial<Run>) => ({ id: "7", targets: [], message: "", ...facts }) as Run;
  const told = (...all: Run[]) => runUnderWay({ list: () => all }, stackKey("", "shop"));
  const target = (stack: string, status: "running" | "succeeded", context = "default") =>
    run({
      trigger: "poll",
      repository: "git.test/me/ops",
      targets: [{ context, stack, status, message: "pulling web" }],
    });
  assert.equal(told(target("shop", "running")), "run 7 (poll of git.test/me/ops: pulling web)");
  assert.equal(told(target("shop", "succeeded"), target("other", "running")), undefined);
  assert.equal(told(target("shop", "running", "nas")), undefined);
  const job = run({ trigger: "scheduled_job", repository: "scheduled:shop-backup-1" });
  assert.equal(told(job), "run 7 (scheduled_job of shop-backup-1)");
  assert.equal(told(run({ trigger: "poll", repository: "scheduled:shopping-1" })), undefined);
});
