import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createReconciliation } from "../../../src/app/reconciliation.ts";
import type { ContainerEvent } from "../../../src/docker/mod.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

describe("createReconciliation()", () => {
  it("finds the stack of a swarm's service by its name, and reads no other one", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    for (const name of ["a", "a_b", "other"]) {
      const swarm = name === "other" ? {} : { swarm: {} };
      const release = releaseOf(stackKey("", name), "1", swarm);
      ledger.succeed(ledger.beginDeploy(release), {}, "done");
      ledger.reconciliations.settle(release.key, {
        ...{ enabled: true, events: ["destroy"], drift: "report" },
        ...{ restartTimeoutSeconds: 1, restartSignal: "" },
        ...{ restartLimit: 5, restartWindowSeconds: 300 },
      });
    }
    Object.assign(ledger, { currents: () => assert.fail("all stacks are read") });
    const stop = new AbortController();
    const events: { tell?: (event: ContainerEvent) => void } = {};
    const follow = ({ onEvent }: { onEvent: (event: ContainerEvent) => void }) => {
      events.tell = onEvent;
      return Promise.resolve();
    };
    const looked: string[] = [];
    const pipeline = {
      strayed: () => Promise.resolve([]),
      reconcile: ({ name }: { name: string }) => {
        looked.push(name);
        return Promise.resolve("settled" as const);
      },
    };
    const settings = { deploy: { recoverOnStartup: true } } as never;
    const parts = { assembly: { ledger }, events: () => ({ follow }), pipeline, listeners: [] };
    const when = { able: Promise.resolve(), settled: Promise.resolve() };
    const made = createReconciliation(
      settings,
      { clock, log: createRecordingLog() },
      parts as never,
    );
    const done = made.run(stop.signal, when);
    await clock.advance(0);
    for (const name of ["a_b_web", "other_web", "a_web", "a_b", "_", "x_".repeat(200)]) {
      const attributes = { name };
      const event = {
        type: "service",
        action: "remove",
        detail: "",
        attributes,
        containerId: name,
      };
      events.tell?.(event as unknown as ContainerEvent);
    }
    for (let pause = 0; pause < 10; pause++) await clock.advance(250);
    stop.abort();
    await done;
    assert.deepEqual(looked.sort(), ["a", "a_b"]);
  });
});
