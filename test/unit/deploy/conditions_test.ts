import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conditionState } from "../../../src/deploy/conditions.ts";

describe("conditionState()", () => {
  const state = (count: number) =>
    conditionState(
      Array.from({ length: count }, (_, at) => ({
        dependent: `web${at}`,
        dependency: "db",
        condition: "service_started",
      })),
      { containers: [] },
    );

  it("tells of each condition what it waits for", () => {
    const each = (at: number) => `web${at} waits for db, which has no container`;
    assert.deepEqual(state(2), { kind: "waiting", why: `${each(0)}, ${each(1)}` });
  });

  it("tells of twenty conditions, and counts the others", () => {
    const found = state(1000);
    assert.ok(found.kind === "waiting");
    assert.match(found.why, /web19 waits for db, which has no container and 980 more$/);
  });
});
