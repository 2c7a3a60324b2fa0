import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whyForced } from "../../../src/plan/mod.ts";

const POLL = { origin: "automatic", changes: [], deployed: "a", wanted: "a" } as const;

describe("whyForced()", () => {
  it("forces where inputs changed, and whenever a person asks", () => {
    assert.equal(whyForced(POLL), undefined);
    assert.match(whyForced({ ...POLL, changes: [{}] }) ?? "", /inputs changed/);
    assert.match(whyForced({ ...POLL, origin: "manual" }) ?? "", /a person asked/);
  });

  it("goes by the digests where only rendering tells of changes", () => {
    assert.equal(whyForced({ ...POLL, changes: undefined }), undefined);
    assert.match(whyForced({ ...POLL, changes: undefined, wanted: "b" }) ?? "", /inputs changed/);
  });

  it("forces nothing of what runs without a recorded release", () => {
    assert.equal(whyForced({ ...POLL, changes: undefined, deployed: undefined }), undefined);
  });
});
