import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatStackArguments, stackKey } from "../../../src/model/mod.ts";

describe("formatStackArguments()", () => {
  it("names the context where it is not the default one, so that a command can be pasted", () => {
    assert.equal(formatStackArguments(stackKey("default", "shop")), "shop");
    assert.equal(formatStackArguments(stackKey("nas", "shop")), "--context nas shop");
  });
});
