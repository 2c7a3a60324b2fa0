import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ObservedContainer, Plan, ReleaseService } from "../../../src/model/mod.ts";
import { type EarlierAttempts, planAfterFailure } from "../../../src/pipeline/beyond_digests.ts";

const SERVICE: Omit<ReleaseService, "name"> = {
  digest: "d",
  inputs: {},
  expectation: {
    replicas: 1,
    restarts: false,
    mayFinish: false,
    oneShot: false,
    autostart: true,
  },
  image: "app:1",
  builds: false,
  follows: {},
  dependsOn: [],
};
const RELEASE = {
  digest: "bad",
  services: [{ ...SERVICE, name: "web" }, { ...SERVICE, name: "worker" }],
};
const KEEP = (name: string) => ({ name, action: "keep" as const, because: ["unchanged"] });
const NO_CHANGES: Plan = {
  kind: "skip",
  reason: "no_changes",
  message: "no changes",
  services: [KEEP("web"), KEEP("worker")],
};

function observed(worker: Partial<ObservedContainer>): EarlierAttempts["observed"] {
  const container = (service: string): ObservedContainer => ({
    id: service,
    name: `shop-${service}-1`,
    service,
    state: "running",
    health: "none",
    exitCode: undefined,
    imageId: "sha256:1",
    labels: {},
  });
  return { containers: [container("web"), { ...container("worker"), ...worker }] };
}

describe("planAfterFailure()", () => {
  const broken: readonly (readonly [title: string, worker: Partial<ObservedContainer>])[] = [
    ["stopped with an error", { state: "exited", exitCode: 1 }],
    ["is unhealthy", { health: "unhealthy" }],
    ["never became healthy", { health: "starting" }],
  ];
  for (const [title, worker] of broken) {
    it(`replaces what ${title} of a release that failed before`, () => {
      const plan = planAfterFailure(RELEASE, NO_CHANGES, {
        failed: "bad",
        deployed: "good",
        observed: observed(worker),
      });
      assert.equal(plan.kind, "deploy");
      assert.deepEqual(plan.services.map((each) => [each.name, each.action]), [
        ["web", "keep"],
        ["worker", "recreate"],
      ]);
      assert.equal(plan.message, "recreate worker");
    });
  }

  const untouched: readonly (readonly [title: string, earlier: Partial<EarlierAttempts>])[] = [
    ["the failure was another release's", { failed: "other" }],
    ["nothing failed", { failed: undefined }],
    ["the release was deployed since", { deployed: "bad" }],
    ["everything works by now", { observed: observed({}) }],
  ];
  for (const [title, earlier] of untouched) {
    it(`changes nothing when ${title}`, () => {
      const plan = planAfterFailure(RELEASE, NO_CHANGES, {
        failed: "bad",
        deployed: undefined,
        observed: observed({ state: "exited", exitCode: 1 }),
        ...earlier,
      });
      assert.equal(plan, NO_CHANGES);
    });
  }

  it("changes nothing of a plan that does something", () => {
    const plan: Plan = { kind: "deploy", message: "create web", services: [] };
    const earlier = { failed: "bad", deployed: undefined, observed: observed({}) };
    assert.equal(planAfterFailure(RELEASE, plan, earlier), plan);
  });
});
