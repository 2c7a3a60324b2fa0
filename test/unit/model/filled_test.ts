import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { filled } from "../../../src/model/json.ts";

describe("filled()", () => {
  it("leaves out what says nothing, and nothing else", () => {
    const empty = { none: undefined, text: "", list: [], map: {} };
    const told = {
      no: false,
      zero: 0,
      nothing: null,
      text: " ",
      list: [""],
      map: { a: undefined },
      // They have no keys of their own.
      date: new Date(0),
      pairs: new Map([["a", 1]]),
      bytes: new Uint8Array(0),
    };
    assert.deepEqual(filled(empty), {});
    assert.deepEqual(filled({ ...empty, ...told }), told);
    assert.deepEqual(filled({ inner: filled(empty) }), {});
  });
});
