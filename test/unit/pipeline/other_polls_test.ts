import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SourceRequest } from "../../../src/model/mod.ts";
import { besidePolls } from "../../../src/pipeline/owner/other_polls.ts";

describe("besidePolls()", () => {
  const poll = (more: object) =>
    ({
      ...{ kind: "git", url: "a", reference: "main", target: "", deployments: [{ name: "one" }] },
      ...more,
    }) as unknown as SourceRequest;
  const own = poll({});
  const two = poll({ deployments: [{ name: "two" }] });
  const file = poll({ reference: "refs/heads/main", deployments: [] });

  it("finds the further entries of one reference and target", () => {
    const others = [poll({ target: "nas" }), poll({ reference: "dev" })];
    assert.deepEqual(besidePolls([own, two, file, ...others], own), [two, file]);
    assert.deepEqual(besidePolls([own, ...others], own), []);
  });

  it("finds none for a run of all entries together", () => {
    assert.deepEqual(besidePolls([own, two], poll({ withFiles: true })), []);
  });
});
