import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownVariablesIn } from "../../../src/model/mod.ts";

describe("ownVariablesIn()", () => {
  const found = (text: string) => Object.fromEntries(ownVariablesIn(text));

  it("finds variables of our own environment in either spelling, with the first line", () => {
    const text = "a: ${HOME}/x\nb: $PATH:${HOME:-/y} ${A:-${DOCKER_HOST}}\nc: $$$TMPDIR\n";
    assert.deepEqual(found(text), { HOME: 1, PATH: 2, DOCKER_HOST: 2, TMPDIR: 3 });
  });

  it("finds those that are named without a value, which compose takes as they are", () => {
    for (
      const text of [
        "environment:\n  - PATH\n  - HOME # ours",
        "environment:\n  PATH:\n  'HOME':",
        "a:\n  environment: [A, PATH]\nb: {environment: { B: c, HOME: }}",
        '"environment": [\n  "PATH"\n], "environment": ["X=1", "HOME"]',
      ]
    ) {
      assert.deepEqual(Object.keys(found(text)), ["PATH", "HOME"], text);
    }
    const others = "environment: [PATH=/bin, MY_HOME]\n- HOME=/x\nHOME: /y\n- HOMES\n- A:HOME";
    assert.deepEqual(found(others), {});
  });

  it("finds no others, no dollar signs and no comments", () => {
    assert.deepEqual(found("# ${HOME}\na: ${HOMEPAGE} $$HOME $${PATH} HOME ${A_HOME} $home\n"), {});
  });
});
