import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { saidOfBack } from "../../../src/deploy/rollout_words.ts";
import type { ServicePlan } from "../../../src/model/mod.ts";

function plan(actions: Readonly<Record<string, ServicePlan["action"]>>): ServicePlan[] {
  return Object.entries(actions).map(([name, action]) => ({ name, action, because: [] }));
}

describe("saidOfBack()", () => {
  it("says what was restored, and not of what was new", () => {
    const back = plan({ web: "recreate", db: "start", kept: "keep", fresh: "remove" });
    const tried = plan({ web: "recreate", fresh: "create" });
    assert.equal(saidOfBack(back, tried, "nothing"), "restored web, db; removed fresh");
    assert.equal(saidOfBack(plan({ a: "keep" }), tried, "nothing"), "nothing");
  });

  it("says of a service that ran before, and the release does not have, that what ran was replaced", () => {
    const said = saidOfBack(plan({ db: "remove" }), plan({ db: "recreate" }), "nothing");
    assert.equal(said, "removed db (what ran of it before was replaced)");
  });
});
