import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findJobs } from "../../../src/deploy/mod.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import type { ObservedContainer } from "../../../src/model/mod.ts";

const JOB = { "stackwright.job.enabled": "true", "com.docker.compose.service": "backup" };

function job(project: string, labels: Readonly<Record<string, string>>): ObservedContainer {
  return {
    id: project,
    name: `${project}-backup-1`,
    service: "backup",
    state: "created",
    health: "none",
    exitCode: undefined,
    imageId: "sha256:0",
    labels: { ...JOB, "com.docker.compose.project": project, ...labels },
  };
}

describe("findJobs()", () => {
  it("leaves out what another Stackwright on the engine deployed, which runs it itself", async () => {
    const managed = { "stackwright.manager": "stackwright" };
    const containers = [job("mine", managed), job("strange", managed), job("by-hand", {})];
    const engine = {
      listContainers: (labels: Readonly<Record<string, string | undefined>>) =>
        Promise.resolve("stackwright.job.enabled" in labels ? containers : []),
    } as unknown as Engine;
    const parts = { engine, isDeployed: ({ name }: { readonly name: string }) => name === "mine" };
    const found = await findJobs(parts, new AbortController().signal);
    assert.deepEqual(found.map(({ key }) => key.name), ["by-hand", "mine"]);
  });
});
