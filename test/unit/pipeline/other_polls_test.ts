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

  const nas = poll({ target: "nas" });

  it("finds the further entries of one reference, of any target", () => {
    const dev = poll({ reference: "dev" });
    assert.deepEqual(besidePolls([own, two, file, nas, dev], own), [two, file, nas]);
    assert.deepEqual(besidePolls([own, dev], own), []);
  });

  it("finds those of other targets for a run of all entries together", () => {
    assert.deepEqual(besidePolls([own, two, nas], poll({ withFiles: true })), [nas]);
  });
});
