import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failuresByPlace, type SourceFailure, toldFailures } from "../../../src/model/mod.ts";

function failure(reference: string, target = ""): SourceFailure {
  const [since, lastAt] = [new Date(0), new Date(0)];
  return { repository: "git.test/me/shop", reference, target, since, lastAt, message: "no" };
}

describe("failuresByPlace()", () => {
  it("finds the failure of a place by the full name of its reference", () => {
    const [main, tag, head] = [failure("main"), failure("v1"), failure("HEAD", "nas")];
    const failureAt = failuresByPlace([main, tag, head]);
    const at = (reference: string, target = "", repository = main.repository) =>
      failureAt({ repository, reference, target });
    assert.equal(at("refs/heads/main"), main);
    assert.equal(at("refs/tags/v1"), tag);
    assert.equal(at("HEAD", "nas"), head);
    assert.equal(at("refs/heads/next"), undefined);
    assert.equal(at("refs/heads/main", "nas"), undefined);
    assert.equal(at("refs/heads/main", "", "git.test/me/other"), undefined);
  });
});

describe("toldFailures()", () => {
  it("keeps what is polled or deployed from, and what a webhook named for an hour", () => {
    const polled = { ...failure("polled"), retryAt: new Date(1) };
    const [deployed, pushed] = [failure("main"), failure("wrong")];
    const all = [polled, deployed, pushed];
    const places = [failure("refs/heads/main"), failure("refs/heads/fine")];
    assert.deepEqual(toldFailures(all, places, new Date(3600_000 - 1)), all);
    assert.deepEqual(toldFailures(all, places, new Date(3600_000)), [polled, deployed]);
  });
});
