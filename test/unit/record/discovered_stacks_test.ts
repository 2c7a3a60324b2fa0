import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type DiscoveredStack, stackKey } from "../../../src/model/mod.ts";
import { DiscoveredStacks } from "../../../src/record/mod.ts";
import { LedgerDatabase } from "../../../src/record/ledger_database.ts";

const OWNER = { source: "h/o/r", target: "", reference: "refs/heads/main" };

function stack(name: string, more: Partial<DiscoveredStack> = {}): DiscoveredStack {
  return {
    key: stackKey("", name),
    owner: OWNER,
    repository: "h/o/r",
    directory: `apps/${name}`,
    policy: { delete: true, removeVolumes: false, removeImages: true },
    ...more,
  };
}

function withStacks(test: (stacks: DiscoveredStacks) => void): () => void {
  return () => {
    const database = new LedgerDatabase(":memory:");
    try {
      test(new DiscoveredStacks(database));
    } finally {
      database.close();
    }
  };
}

describe("DiscoveredStacks", () => {
  it(
    "of() has the stacks of exactly that owner",
    withStacks((stacks) => {
      const others = [
        stack("other-source", { owner: { ...OWNER, source: "h/o/x" } }),
        stack("other-target", { owner: { ...OWNER, target: "nas" } }),
        stack("other-reference", { owner: { ...OWNER, reference: "refs/heads/dev" } }),
      ];
      for (const each of [stack("b"), stack("a"), ...others]) stacks.set(each);
      assert.deepEqual(stacks.of(OWNER), [stack("a"), stack("b")]);
      for (const each of others) assert.deepEqual(stacks.of(each.owner), [each]);
    }),
  );

  it(
    "set() replaces what was known, remove() forgets it and may be called again",
    withStacks((stacks) => {
      stacks.set(stack("a"));
      stacks.set(stack("a", { directory: "elsewhere" }));
      assert.equal(stacks.get(stackKey("", "a"))?.directory, "elsewhere");
      assert.equal(stacks.get(stackKey("nas", "a")), undefined);
      stacks.remove(stackKey("", "a"));
      stacks.remove(stackKey("", "a"));
      assert.equal(stacks.get(stackKey("", "a")), undefined);
    }),
  );

  it(
    "setPending() replaces what waits for the owner and for no other",
    withStacks((stacks) => {
      const other = { ...OWNER, target: "nas" };
      stacks.setPending(OWNER, ["default/a"]);
      stacks.setPending(other, ["default/b"]);
      stacks.setPending(OWNER, ["default/c"]);
      assert.deepEqual(stacks.pending(OWNER), ["default/c"]);
      stacks.setPending(OWNER, []);
      assert.deepEqual(stacks.pending(OWNER), []);
      assert.deepEqual(stacks.pending(other), ["default/b"]);
    }),
  );
});
