import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Drift, type FoundDrift, NO_DRIFT } from "../../../src/model/mod.ts";
import { judgeDrift, restartLoops } from "../../../src/plan/mod.ts";

const one = (field: string, id = "c1"): Drift => ({
  service: "web",
  container: { id, name: "shop-web-1" },
  field,
  wanted: "a",
  found: "b",
});
const listed = [one("containers")];
const fields = [one("mem_limit"), one("cpus")];
const REPAIR = { drift: "repair", removeOrphans: true } as const;
const REPORT = { drift: "report" } as const;
const NOW = new Date(3_600_000);

describe("judgeDrift()", () => {
  it("mends all that was found where that is wanted, and remembers what inspecting shows", () => {
    assert.deepEqual(judgeDrift({ listed, fields, before: undefined }, REPAIR, NOW), {
      mended: [...listed, ...fields],
      news: fields,
      loops: [],
      found: { count: 3, fields, tried: [] },
    });
  });

  it("mends nothing where it is only told", () => {
    const judged = judgeDrift({ listed, fields, before: undefined }, REPORT, NOW);
    assert.deepEqual([judged.mended, judged.news], [[], fields]);
  });

  it("tells once, also of the container that took the place of another", () => {
    const before = { ...NO_DRIFT, fields: [one("mem_limit", "c0")] };
    const { news } = judgeDrift({ listed, fields, before }, REPORT, NOW);
    assert.deepEqual(news, [one("cpus")]);
  });

  it("does not replace again what a new container did not change, as long as it is there", () => {
    const before = { ...NO_DRIFT, tried: [one("cpus", "c0"), one("user")] };
    const { mended, found } = judgeDrift({ listed, fields, before }, REPAIR, NOW);
    assert.deepEqual(mended, [...listed, one("mem_limit")]);
    assert.deepEqual(found.tried, [one("cpus", "c0")]);
  });

  it("leaves an orphan that an adoption kept, and what else strays again is mended again", () => {
    const orphan = one("service");
    const before = { ...NO_DRIFT, tried: [orphan, one("containers")] };
    const { mended, found } = judgeDrift(
      { listed: [...listed, orphan], fields: [], before },
      REPAIR,
      NOW,
    );
    assert.deepEqual([mended, found.tried], [listed, [orphan]]);
    assert.equal(found.count, listed.length, "an orphan is no drift");
  });

  it("leaves orphans where the deployment does, and mends the rest", () => {
    const all = { listed: [...listed, one("service")], fields, before: undefined };
    for (const policy of [{ ...REPAIR, removeOrphans: false }, { drift: "repair" }] as const) {
      const { mended, found } = judgeDrift(all, policy, NOW);
      assert.deepEqual(mended, [...listed, ...fields]);
      assert.equal(found.count, 3);
    }
    assert.equal(judgeDrift(all, REPAIR, NOW).mended.length, 4);
  });

  it("tells once of a container that the engine restarted three times in ten minutes", () => {
    const minute = 60_000;
    const restarted = (
      at: number,
      id = "c1",
    ) => [{ id, name: "shop-web-1", at: [at], exitCode: 7 }];
    let before: FoundDrift | undefined;
    const look = (minutes: number, restarts = restarted(minutes * minute)) => {
      const now = new Date(minutes * minute + 7_000);
      const judged = judgeDrift({ listed: [], fields: [], restarts, before }, REPAIR, now);
      before = judged.found;
      return judged;
    };
    assert.deepEqual([look(1).loops, look(1).loops, look(2).loops], [[], [], []]);
    const said =
      "shop-web-1 was restarted by the engine 3 times in 10 minutes, last 7 s ago, exit 7";
    const { loops, mended, found } = look(8);
    assert.deepEqual(loops, [{ id: "c1", said, hasCode: true }]);
    assert.deepEqual([mended, found.count], [[], 0]);
    assert.deepEqual(look(9).loops, []);
    assert.equal(restartLoops(before, new Date(10 * minute)).length, 1);
    // It runs, so it is over after a while without any look; and begins again.
    assert.equal(restartLoops(before, new Date(13 * minute)).length, 0);
    assert.equal(look(14).loops.length, 1);
    // What took its place has restarts of its own.
    assert.deepEqual(look(15, restarted(15 * minute, "c2")).found.restarts?.length, 1);
    assert.equal(look(16, []).found.restarts, undefined);
  });

  it("looks at the first thousand differences, and remembers what an engine says in short", () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({
      ...one(`label ${at}`),
      found: "x".repeat(100_000),
    }));
    const first = judgeDrift({ listed, fields: many, before: undefined }, REPAIR, NOW);
    assert.ok(JSON.stringify(first.found).length < 1_000_000);
    assert.equal(first.mended.length, 1001);
    const again = judgeDrift({ listed, fields: many, before: first.found }, REPAIR, NOW);
    assert.deepEqual(again.news, []);
  });
});
