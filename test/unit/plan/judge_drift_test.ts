import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Drift, NO_DRIFT } from "../../../src/model/mod.ts";
import { judgeDrift } from "../../../src/plan/mod.ts";

const one = (field: string, id = "c1"): Drift => ({
  service: "web",
  container: { id, name: "shop-web-1" },
  field,
  wanted: "a",
  found: "b",
});
const listed = [one("containers")];
const fields = [one("mem_limit"), one("cpus")];

describe("judgeDrift()", () => {
  it("mends all that was found where that is wanted, and remembers what inspecting shows", () => {
    assert.deepEqual(judgeDrift({ listed, fields, before: undefined, policy: "repair" }), {
      mended: [...listed, ...fields],
      news: fields,
      found: { count: 3, fields, tried: [] },
    });
  });

  it("mends nothing where it is only told", () => {
    const judged = judgeDrift({ listed, fields, before: undefined, policy: "report" });
    assert.deepEqual([judged.mended, judged.news], [[], fields]);
  });

  it("tells once, also of the container that took the place of another", () => {
    const before = { ...NO_DRIFT, fields: [one("mem_limit", "c0")] };
    const { news } = judgeDrift({ listed, fields, before, policy: "report" });
    assert.deepEqual(news, [one("cpus")]);
  });

  it("does not replace again what a new container did not change, as long as it is there", () => {
    const before = { ...NO_DRIFT, tried: [one("cpus", "c0"), one("user")] };
    const { mended, found } = judgeDrift({ listed, fields, before, policy: "repair" });
    assert.deepEqual(mended, [...listed, one("mem_limit")]);
    assert.deepEqual(found.tried, [one("cpus", "c0")]);
  });

  it("looks at the first thousand differences, and remembers what an engine says in short", () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({
      ...one(`label ${at}`),
      found: "x".repeat(100_000),
    }));
    const first = judgeDrift({ listed, fields: many, before: undefined, policy: "repair" });
    assert.ok(JSON.stringify(first.found).length < 1_000_000);
    assert.equal(first.mended.length, 1001);
    const again = judgeDrift({ listed, fields: many, before: first.found, policy: "repair" });
    assert.deepEqual(again.news, []);
  });
});
