import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planOfKept } from "../../../src/pipeline/remove_obsolete.ts";

describe("planOfKept()", () => {
  it("says that the volumes stay with it, for one of another name beside it has none of them", () => {
    const { message } = planOfKept("destroy is off");
    assert.match(message, /and it is kept: destroy is off; its volumes stay with it$/);
  });
});
