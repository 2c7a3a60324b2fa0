import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPartOfStack } from "../../../src/deploy/mod.ts";
import { observedContainer } from "../../../src/docker/observed_container.ts";

describe("isPartOfStack()", () => {
  const labelled = (labels: Record<string, string>) =>
    observedContainer({
      Id: "c1",
      Labels: { "com.docker.compose.project": "shop", ...labels },
      State: "running",
    });

  it("has the containers of a project, but those of single runs", () => {
    assert.equal(isPartOfStack(labelled({ "com.docker.compose.oneoff": "False" })), true);
    assert.equal(isPartOfStack(labelled({})), true);
    assert.equal(isPartOfStack(labelled({ "com.docker.compose.oneoff": "True" })), false);
  });

  it("has no task of a swarm, whose image says of which project it were", () => {
    const task = { "com.docker.swarm.service.id": "s1", "stackwright.manager": "stackwright" };
    assert.equal(isPartOfStack(labelled(task)), false);
  });
});
