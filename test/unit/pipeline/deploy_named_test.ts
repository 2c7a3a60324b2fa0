import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Revision,
  stackKey,
  type TargetListener,
  type TargetNews,
} from "../../../src/model/mod.ts";
import { newsAfter } from "../../../src/pipeline/mod.ts";
import { leftListener } from "../../../src/pipeline/source/deploy_named.ts";

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

describe("leftListener()", () => {
  const skip = (reason: string) => ({ kind: "decided", decision: { kind: "skip", reason } });
  const deploy = { kind: "decided", decision: { kind: "deploy" } };
  const [admitted, superseded] = [{ kind: "admitted" }, skip("superseded")];
  const ROWS: readonly (readonly [string, readonly unknown[], isLeft: boolean, isDone: boolean])[] =
    [
      ["what is left to a newer commit in its turn", [admitted, superseded], true, false],
      ["what a later run in its line does", [superseded], false, true],
      ["what is deployed", [admitted, deploy], false, true],
      ["what needs nothing", [admitted, skip("no_changes")], false, true],
      ["a removal that is left when its turn came", [deploy, superseded], true, false],
      ["what was not decided about", [admitted], false, false],
    ];
  for (const [what, news, isLeft, isDone] of ROWS) {
    it(`knows ${what}`, () => {
      const [left, done]: [Revision[], Set<string>] = [[], new Set()];
      const listener = leftListener(left, done);
      const hear = listener({ key: stackKey("", "shop") } as Parameters<TargetListener>[0]);
      for (const each of news) hear({ ...(each as TargetNews), revision: {} as Revision });
      assert.deepEqual([left.length > 0, done.has("default/shop")], [isLeft, isDone]);
    });
  }
});
