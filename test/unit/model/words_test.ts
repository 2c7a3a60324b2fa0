import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  formatRevision,
  formatStackKey,
  isTerminal,
  LABELS,
  RUN_STATUSES,
  shortId,
  stackKey,
} from "../../../src/model/mod.ts";

describe("stackKey", () => {
  const contexts: [string, string][] = [
    ["", "default"],
    ["  ", "default"],
    ["default", "default"],
    ["Default", "default"],
    [" DEFAULT ", "default"],
    ["prod", "prod"],
    [" prod ", "prod"],
    ["Prod", "Prod"],
    ["default2", "default2"],
  ];
  for (const [written, context] of contexts) {
    it(`stackKey() puts ${JSON.stringify(written)} on context ${context}`, () => {
      assert.deepEqual(stackKey(written, "web"), { context, name: "web" });
    });
  }

  it("formatStackKey() tells the same name on two contexts apart", () => {
    assert.equal(formatStackKey(stackKey("", "web")), "default/web");
    assert.equal(formatStackKey(stackKey("prod", "web")), "prod/web");
  });
});

describe("behaviourLabel", () => {
  const ours = BEHAVIOUR_LABELS.recreateIgnore;
  const peers = "cd.doco.deployment.recreate.ignore";
  const table: [string, Record<string, string>, string | undefined][] = [
    ["no label", { other: "x" }, undefined],
    ["ours", { [ours]: "a" }, "a"],
    ["the peer's", { [peers]: "b" }, "b"],
    ["both", { [peers]: "b", [ours]: "a" }, "a"],
    ["ours, empty", { [peers]: "b", [ours]: "" }, ""],
    ["a longer name", { [`${ours}.signal`]: "HUP" }, undefined],
  ];
  for (const [what, labels, value] of table) {
    it(`behaviourLabel() is ${JSON.stringify(value)} with ${what}`, () => {
      assert.equal(behaviourLabel(labels, ours), value);
    });
  }

  it("behaviourLabel() finds the peer's form of every behaviour label", () => {
    for (const label of Object.values(BEHAVIOUR_LABELS)) {
      const theirs = label.replace("stackwright.", "cd.doco.");
      assert.equal(behaviourLabel({ [theirs]: "yes" }, label), "yes");
    }
  });

  it("labels start with our name and differ from each other", () => {
    const all = [...Object.values(LABELS), ...Object.values(BEHAVIOUR_LABELS)];
    assert.equal(new Set(all).size, all.length);
    for (const label of all) assert.match(label, /^stackwright\.[a-z._]+$/);
  });
});

describe("shortId", () => {
  const commit = "4f1c2d3e5a6b7c8d9e0f4f1c2d3e5a6b7c8d9e0f";
  const table: [string, string][] = [
    [commit, "4f1c2d3e5a6b"],
    [`sha256:${commit}`, "4f1c2d3e5a6b"],
    ["abc", "abc"],
  ];
  for (const [id, short] of table) {
    it(`shortId() of ${id} is ${short}`, () => {
      assert.equal(shortId(id), short);
    });
  }

  it("formatRevision() shows reference and short id, and no URL", () => {
    const source = { kind: "git" as const, url: "https://u:canary@h/o/r", name: "h/o/r" };
    assert.equal(
      formatRevision({ source, reference: "refs/heads/main", id: commit }),
      "refs/heads/main (4f1c2d3e5a6b)",
    );
  });
});

describe("isTerminal", () => {
  it("isTerminal() is true for the three ends alone", () => {
    assert.deepEqual(RUN_STATUSES.filter(isTerminal), ["succeeded", "failed", "skipped"]);
  });
});
