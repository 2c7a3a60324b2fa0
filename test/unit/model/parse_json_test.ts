import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isObject, listOf, parseJson, recordOf } from "../../../src/model/json.ts";
import { strictUtf8, utf8 } from "../../../src/model/texts.ts";

describe("values of JSON", () => {
  it("are undefined where a text is none", () => {
    assert.equal(parseJson("null"), null);
    assert.equal(parseJson("{"), undefined);
  });

  it("are objects and lists, or empty ones", () => {
    assert.deepEqual([recordOf({ a: 1 }), recordOf([1]), recordOf(null)], [{ a: 1 }, {}, {}]);
    assert.deepEqual([listOf([1]), listOf({ a: 1 }), listOf("a")], [[1], [], []]);
  });

  it("are no bytes and no instants", () => {
    assert.equal(isObject(new Uint8Array()), false);
    assert.equal(isObject(new Date(0)), false);
  });
});

describe("texts of bytes", () => {
  const broken = new Uint8Array([0x61, 0xff]);

  it("have a sign in place of what is no UTF-8", () => {
    assert.equal(utf8(broken), "a\ufffd");
    assert.equal(utf8(), "");
  });

  it("are undefined where they must be UTF-8", () => {
    assert.equal(strictUtf8(broken), undefined);
    assert.equal(strictUtf8(new Uint8Array([0x61])), "a");
  });
});
