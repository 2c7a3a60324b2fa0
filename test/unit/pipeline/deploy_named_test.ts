import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey, type TargetListener, type TargetNews } from "../../../src/model/mod.ts";
import { newsAfter } from "../../../src/pipeline/mod.ts";

describe("newsAfter()", () => {
  const decided = (kind: "skip" | "deploy") =>
    ({
      kind: "decided",
      decision: { kind, message: "", changes: [], services: [] },
    }) as const;
  const ended = { kind: "ended", end: { status: "failed", message: "" } } as const;
  type Seen = "told" | "failed" | undefined;
  const ROWS: readonly (readonly [string, Seen, readonly TargetNews[], number])[] = [
    ["all of what is new", undefined, [{ kind: "pending" }, decided("skip"), ended], 3],
    ["no word of what needs nothing now", "told", [{ kind: "pending" }, decided("skip"), ended], 0],
    ["a failure before a decision", "told", [{ kind: "pending" }, ended], 1],
    ["no second time what cannot be read", "failed", [{ kind: "pending" }, ended], 0],
    ["what is done to it", "told", [{ kind: "pending" }, decided("deploy"), ended], 2],
  ];
  for (const [what, seen, news, told] of ROWS) {
    it(`tells ${what}`, () => {
      const key = stackKey("", "shop");
      const heard: unknown[] = [];
      const listener: TargetListener = () => (each) => void heard.push(each);
      const hear = newsAfter(new Map(seen && [["default/shop", seen]]), listener);
      const each = hear({ key } as Parameters<TargetListener>[0]);
      for (const one of news) each(one as unknown as Parameters<typeof each>[0]);
      assert.equal(heard.length, told);
    });
  }
});
