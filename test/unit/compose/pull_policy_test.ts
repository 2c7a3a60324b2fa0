import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requirePullable } from "../../../src/compose/pull_policy.ts";
import { stackKey } from "../../../src/model/mod.ts";

describe("requirePullable()", () => {
  it("names an image that several services need once", () => {
    const names = ["a", "b", "c"];
    const services = Object.fromEntries(names.map((name) => [name, { pull_policy: "never" }]));
    const release = { key: stackKey("", "shop"), model: { services } };
    const missing = names.map((name) => ({ name, image: name === "c" ? "other:1" : "app:1" }));
    assert.throws(() => requirePullable(release, missing), {
      code: "pull_failed",
      message: /^shop needs app:1 of services a, b, other:1 of service c, not on this engine/,
    });
  });
});
