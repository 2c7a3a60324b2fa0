import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ObservedContainer, Plan } from "../../../src/model/mod.ts";
import { withStarted } from "../../../src/plan/mod.ts";
import { containerOf, EXPECTED, serviceOf } from "./values.ts";

const theirs = (name: string, fields: Partial<ObservedContainer>) =>
  containerOf(name, { labels: {}, ...fields });
const plan: Plan = {
  kind: "deploy",
  message: "recreate all",
  services: ["web", "init", "idle", "ours", "up", "kept"].map((name) => ({
    name,
    action: name === "kept" ? "keep" : "recreate",
    because: ["x"],
  })),
};
const down = { state: "exited", exitCode: 137 } as const;

describe("withStarted()", () => {
  it("names what did not run and is started, and in the message what should have run", () => {
    const desired = [
      serviceOf("web", { expectation: { ...EXPECTED, restarts: true } }),
      ...["init", "ours", "up", "kept"].map((name) => serviceOf(name)),
      serviceOf("idle", { expectation: { ...EXPECTED, autostart: false } }),
    ];
    const containers = [
      theirs("web", down),
      theirs("init", { state: "exited", exitCode: 0 }),
      ...["idle", "kept"].map((name) => theirs(name, down)),
      theirs("up", {}),
      containerOf("ours", down),
    ];
    const told = withStarted(plan, desired, { containers });
    assert.equal(told.message, "recreate all; start stack-web-1, which did not run");
    assert.deepEqual(told.services.map(({ because: [, ...more] }) => more), [
      ["container stack-web-1 does not run (exited with 137), and the new one is started"],
      ["container stack-init-1 does not run (exited with 0), and the new one is started"],
      ...[[], [], [], []],
    ]);
  });

  it("counts what is beyond a few, and leaves plans alone that start nothing", () => {
    const many = Array.from({ length: 5 }, (_, at) => theirs("web", { ...down, name: `c${at}` }));
    const { message } = withStarted(plan, [serviceOf("web")], { containers: many });
    assert.equal(message, "recreate all; start c0, c1, c2 and 2 more, which did not run");
    assert.equal(withStarted(plan, [serviceOf("web")], { containers: [] }), plan);
  });
});
