import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePollConfig } from "../../../src/config/mod.ts";
import { inlineDeploymentsFor } from "../../../src/source/mod.ts";

const POLLS = parsePollConfig(
  `
- {url: "https://user:pw@Git.Example/o/r.git", reference: main, deployments: [{name: a}, {name: b}]}
- {url: "git@git.example:o/r", reference: refs/heads/main, deployments: [{name: c}]}
- {url: "https://git.example/o/r", reference: main, target: nas, deployments: [{name: d}]}
- {url: "https://git.example/o/r", reference: refs/tags/main, deployments: [{name: e}]}
- {url: "https://git.example/o/r", deployments: []}
- {url: "https://git.example/o/x", reference: main, deployments: [{name: f}]}
- {url: "https://git.example/o/X", reference: main, deployments: [{name: h}]}
- {url: "https://git.example/o/X", reference: dev, deployments: []}
- {url: "https://github.com/o/y", reference: main, deployments: [{name: i}]}
- {url: "https://github.com/O/Y", reference: main, deployments: [{name: j}]}
- {url: "ghcr.example/o/r:v1", source: oci, deployments: [{name: g}]}
`,
  { file: "polls" },
);

describe("inlineDeploymentsFor()", () => {
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ["https://git.example/o/r.git", "refs/heads/main", "", ["a", "b", "c"]],
    ["ssh://git@git.example/o/r", "main", "", ["a", "b", "c"]],
    ["git.example/o/r", "main", "", ["a", "b", "c"]],
    ["git.example/O/R", "main", "", ["a", "b", "c"]],
    ["git.example/o/r", "refs/heads/main", "nas", ["d"]],
    ["git.example/o/r", "refs/tags/main", "", ["e"]],
    ["git.example/o/r", "refs/heads/dev", "", []],
    ["git.example/o/r", "refs/heads/Main", "", []],
    ["git.example/o/r", "main", "vps", []],
    ["git.example/o/x", "main", "", ["f"]],
    ["git.example/o/X", "main", "", ["h"]],
    ["git.example/o/x", "dev", "", []],
    ["git.example/O/X", "main", "", []],
    ["github.com/O/y", "main", "", ["i", "j"]],
    ["git.example/o/other", "main", "", []],
    ["other.example/o/r", "main", "", []],
    ["ghcr.example/o/r", "v1", "", ["g"]],
    ["ghcr.example/o/r", "v2", "", []],
  ];
  for (const [repository, reference, target, expected] of rows) {
    it(`${repository} at ${reference}, target "${target}": ${expected.join(", ") || "none"}`, () => {
      const found = inlineDeploymentsFor(POLLS, repository, reference, target);
      assert.deepEqual(found.map((each) => each.deployment.name), expected);
    });
  }

  it("knows an entry also by the name its repository goes by", () => {
    const [first] = POLLS;
    assert.ok(first);
    const entry = { request: { ...first.request, identity: "public.example/o/r" } };
    assert.equal(inlineDeploymentsFor([entry], "public.example/o/r", "main", "").length, 2);
  });
});
