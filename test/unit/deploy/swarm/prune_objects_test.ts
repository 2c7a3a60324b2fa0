import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prunable } from "../../../../src/deploy/swarm/prune_objects.ts";

function object(version: number, base = "shop_a", manager = "stackwright") {
  const labels = { "stackwright.manager": manager, "stackwright.name": base };
  return { id: `id-${base}-${version}`, name: `${base}_${version}`, version, labels };
}

describe("prunable()", () => {
  const all = [1, 2, 3, 4, 5].map((version) => object(version));
  const cases: readonly (readonly [
    title: string,
    retention: number,
    used: readonly number[],
    needed: readonly number[],
    gone: readonly number[],
  ])[] = [
    ["keeps only the one in use with 0", 0, [5], [], [4, 3, 2, 1]],
    ["keeps the newest old ones", 2, [5], [], [2, 1]],
    ["keeps all with -1", -1, [5], [], []],
    ["keeps what the release before needs, whatever the number", 0, [5], [2], [4, 3, 1]],
    ["counts from the one in use, which need not be the newest", 1, [2], [], [4, 3, 1]],
  ];
  for (const [title, retention, used, needed, gone] of cases) {
    it(title, () => {
      const found = prunable(all, {
        retention,
        used: new Set(used.map((version) => `id-shop_a-${version}`)),
        needed: new Set(needed.map((version) => `shop_a_${version}`)),
      });
      assert.deepEqual(found.map(({ version }) => version), gone);
    });
  }

  it("does not mix up names of which one looks like the other with a digest", () => {
    const others = [object(1, "shop_a_12345678"), object(2, "shop_a")];
    const sets = { used: new Set<string>(), needed: new Set<string>() };
    assert.deepEqual(prunable(others, { retention: 1, ...sets }), []);
  });

  it("leaves what somebody else made", () => {
    const sets = { used: new Set<string>(), needed: new Set<string>() };
    assert.deepEqual(prunable([object(1, "a", "them")], { retention: 0, ...sets }), []);
  });
});
