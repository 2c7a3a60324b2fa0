import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCommandGate } from "../../../src/app/gate.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger, recordShop } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("createCommandGate()", () => {
  it("looks once at what runs, however many pages a command asks for", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    for (const name of ["a", "b", "c"]) recordShop(ledger, clock, stackKey("", name));
    let looks = 0;
    const client = {
      listContainers: (labels: object) => {
        if ("com.docker.compose.project" in labels) looks++;
        return Promise.resolve([]);
      },
    };
    const engines = {
      of: () => Promise.resolve({ client }),
      names: () => Promise.resolve(["default"]),
    };
    const assembly = { ledger, engines, engine: client };
    const log = createRecordingLog();
    const gate = createCommandGate(
      readSettings({ DATA_DIR: "/nowhere" }, () => "", { uid: 0 }),
      { clock, log, redactor: createRedactor() } as never,
      assembly as never,
    );
    const call = { signal: new AbortController().signal, log };
    const list = async (after?: string) =>
      (await gate.operations.listDeployments.call({ limit: 2, after }, call)).deployments
        .map(({ name }) => name);
    assert.deepEqual([await list(), await list("b")], [["a", "b"], ["c"]]);
    assert.equal(looks, 1);
  });
});
