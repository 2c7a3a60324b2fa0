import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRecreateIgnore } from "../../../src/config/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

describe("parseRecreateIgnore()", () => {
  it("is undefined when a service carries neither label", () => {
    assert.equal(parseRecreateIgnore({ ignore: undefined, signal: undefined }), undefined);
  });

  const good: readonly [string, string | undefined, Record<string, unknown>, string | undefined][] =
    [
      ["configs:", undefined, { configs: "all" }, undefined],
      ["configs: []", "SIGHUP", { configs: "all" }, "SIGHUP"],
      ["{configs: [a, b], bindMounts: [/etc/x]}", "hup", {
        configs: ["a", "b"],
        bindMounts: ["/etc/x"],
      }, "SIGHUP"],
      ["secrets:\n  - token\n", "10", { secrets: ["token"] }, "10"],
      ["configs: [a]", " SIGRTMIN+1 ", { configs: ["a"] }, "SIGRTMIN+1"],
    ];
  for (const [ignore, signal, items, expected] of good) {
    it(`reads ${JSON.stringify(ignore)} with signal ${signal}`, () => {
      const parsed = parseRecreateIgnore({ ignore, signal });
      assert.deepEqual(Object.fromEntries(parsed?.items ?? []), items);
      assert.equal(parsed?.signal, expected);
    });
  }

  const bad: readonly [string | undefined, string | undefined, RegExp][] = [
    [undefined, "SIGHUP", /needs recreate\.ignore/],
    ["", undefined, /expected a map of configs, secrets, bindMounts, found null/],
    ["{}", undefined, /found \{\}/],
    ["[configs]", undefined, /expected a map/],
    ["configs: yes", undefined, /recreate\.ignore\.configs: expected a list, found "yes"/],
    ["configs: [1]", undefined, /expected names, found 1/],
    ["configs: ['']", undefined, /expected names, found ""/],
    ["configs: [a, a]", undefined, /names a twice/],
    [
      `bindMounts: [${Array.from({ length: 201 }, (_, at) => `/${at}`)}]`,
      undefined,
      /has 201 names/,
    ],
    ["configs: []\nconfigs: []", undefined, /unique/i],
    ["envFiles: []", undefined, /"envFiles" is no scope/],
    ["buildFiles:", undefined, /"buildFiles" is no scope/],
    ["configs: [", undefined, /no YAML map/],
    ["configs:", "", /"" is no signal/],
    ["configs:", "SIGNOPE", /"SIGNOPE" is no signal/],
    ["configs:", "0", /no signal/],
    ["configs:", "65", /no signal/],
  ];
  for (const [ignore, signal, message] of bad) {
    it(`refuses ${JSON.stringify(ignore)} with signal ${JSON.stringify(signal)}`, () => {
      assert.throws(
        () => parseRecreateIgnore({ ignore, signal }),
        (error) => isStackwrightError(error, "config_invalid") && message.test(error.message),
      );
    });
  }
});
