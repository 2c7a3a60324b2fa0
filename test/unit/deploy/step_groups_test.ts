import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { groupChanges } from "../../../src/deploy/step_groups.ts";

const KINDS = ["a", "b", "c"];

/** What a group has to be, by the words of its description and with every pair looked at. */
function expected(
  changes: readonly { readonly name: string; readonly kind: string }[],
  dependsOn: (name: string) => readonly string[],
) {
  const kindOf = (name: string) => changes.find((each) => each.name === name)?.kind;
  const waits = (name: string, seen: readonly string[] = []): boolean =>
    dependsOn(name).some((each) => {
      if (kindOf(each) === undefined || seen.includes(each)) return false;
      return kindOf(each) !== kindOf(name) || waits(each, [...seen, name]);
    });
  const possible = KINDS.map((kind) => changes.filter((each) => each.kind === kind))
    .map((all) => ({ all, free: all.filter(({ name }) => !waits(name)) }))
    .filter(({ free }) => free.length > 0);
  const found = possible.find(({ all, free }) => all.length === free.length) ?? possible[0];
  const first = found?.free ?? changes.filter(({ kind }) => kind === changes[0]?.kind);
  return { kind: first[0]?.kind, names: first.map(({ name }) => name) };
}

describe("groupChanges()", () => {
  it("makes the groups that comparing all with all makes, also with circles", () => {
    let state = 4711;
    const below = (most: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor(state / 65_536) % most;
    };
    for (let round = 0; round < 2000; round++) {
      const changes = Array.from({ length: 1 + below(7) }, (_, at) => ({
        name: `s${at}`,
        kind: KINDS[below(3)] ?? "",
      }));
      const of = new Map(changes.map(({ name }, at) => {
        const others = round % 4 === 0 ? changes : changes.slice(0, at);
        return [name, ["gone", ...others.map((each) => each.name).filter(() => below(3) === 0)]];
      }));
      const dependsOn = (name: string) => of.get(name) ?? [];
      let left: typeof changes = changes;
      for (const group of groupChanges(changes, KINDS, dependsOn)) {
        assert.deepEqual(
          group,
          expected(left, dependsOn),
          JSON.stringify({ changes, of: [...of] }),
        );
        left = left.filter(({ name }) => !group.names.includes(name));
      }
      assert.deepEqual(left, []);
    }
  });
});
