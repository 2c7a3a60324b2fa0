import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LabelFilter } from "../../../src/docker/engine_facts.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { type JobParts, runJob } from "../../../src/pipeline/run_job.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

describe("runJob()", () => {
  it("asks for the containers of its job alone: each of hundreds may be about to run", async () => {
    const asked: LabelFilter[] = [];
    const listContainers = (labels: LabelFilter) => {
      asked.push(labels);
      return Promise.resolve([]);
    };
    const host = { engine: { listContainers }, info: () => Promise.resolve({ swarm: "none" }) };
    const parts = { host, ledger: createMemoryLedger(createFakeClock()) };
    const told: string[] = [];
    await runJob(
      parts as unknown as PipelineParts,
      { results: { set: () => {} } } as unknown as JobParts,
      {
        work: {
          ...{ kind: "job", trigger: "scheduled_job", origin: "automatic" },
          ...{ key: stackKey("", "shop"), service: "backup" },
        },
        reporter: { describe: () => {}, target: ({ message }) => told.push(message ?? "") },
      },
      new AbortController().signal,
    );
    assert.deepEqual(told, ["starting", "shop has no job backup any more"]);
    assert.notEqual(asked.length, 0);
    for (const labels of asked) {
      assert.equal(labels["com.docker.compose.project"], "shop");
      assert.equal(labels["com.docker.compose.service"], "backup");
    }
  });
});
