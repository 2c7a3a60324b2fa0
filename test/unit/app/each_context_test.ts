import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forEachContext } from "../../../src/app/each_context.ts";
import type { RecordedRelease } from "../../../src/record/mod.ts";
import { stackKey, type TargetEvent, type TargetListener } from "../../../src/model/mod.ts";

describe("forEachContext()", () => {
  it("works for the default context and each that has a stack, once, from when it has one", async () => {
    const keys = [stackKey("", "shop"), stackKey("two", "shop"), stackKey("two", "wiki")];
    const find = (name: string) => keys.find((each) => each.name === name);
    const listeners: TargetListener[] = [];
    const ledger = {
      contexts: () => keys.map(({ context }) => context),
      current: ({ name }: { name: string }) => find(name) && {} as RecordedRelease,
    };
    const begun: string[] = [];
    const stop = new AbortController();
    const work = (context: string) => Promise.resolve(void begun.push(context));
    const running = forEachContext({ ledger, listeners }, work, stop.signal);
    assert.deepEqual(begun, ["default", "two"]);
    const ends = (context: string, name: string) => {
      const key = stackKey(context, name);
      const told = { key, repository: "r", trigger: "poll", origin: "automatic" } as const;
      listeners[0]?.(told)({ kind: "ended" } as TargetEvent);
    };
    ends("three", "never-deployed");
    assert.deepEqual(begun, ["default", "two"]);
    keys.push(stackKey("three", "new"));
    ends("three", "new");
    ends("three", "new");
    assert.deepEqual(begun, ["default", "two", "three"]);
    stop.abort();
    ends("four", "new");
    await running;
    assert.deepEqual(begun, ["default", "two", "three"]);
  });
});
