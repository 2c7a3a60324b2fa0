import assert from "node:assert/strict";
import { it } from "node:test";
import { LABELS, type ObservedContainer } from "../../../src/model/mod.ts";
import { runningServices } from "../../../src/pipeline/rollout/running_services.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
import { createMemoryLedger, SHOP } from "../../fakes/memory_ledger.ts";
import { serviceOf } from "../plan/values.ts";
import { releaseOf } from "../record/releases.ts";

const JOB = { "stackwright.job.enabled": "true" };

function container(name: string, labels = {}, more: Partial<ObservedContainer> = {}) {
  return runningContainer("shop", name, { labels: { [LABELS.digest]: name, ...labels }, ...more });
}

it("runningServices() leaves out what its author made a job, and what does not run", async () => {
  const ledger = createMemoryLedger(createFakeClock());
  const names = ["web", "built", "backup", "old"];
  const release = releaseOf(SHOP, "a1", {
    model: { services: { web: {}, built: {}, backup: { labels: JOB }, old: {} } },
    services: names.map((name) => serviceOf(name, { digest: name })),
  });
  ledger.succeed(ledger.beginDeploy(release), {}, "done");
  const containers = [
    container("web"),
    container("web"),
    // A label of its image alone makes no job of it.
    container("built", JOB),
    container("backup", JOB),
    container("old", {}, { state: "exited" }),
  ];
  assert.deepEqual(await runningServices(ledger, SHOP, { containers }), ["web", "built"]);
});
