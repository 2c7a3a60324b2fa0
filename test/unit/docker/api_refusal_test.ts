import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEngine, isRefusedChange } from "../../../src/docker/mod.ts";
import { startHostileEngine } from "../../fakes/hostile_engine.ts";

const signal = new AbortController().signal;

describe("isRefusedChange()", () => {
  it("is true for a change that the engine refused, and for nothing that could not be read", async () => {
    const hostile = await startHostileEngine();
    const engine = createEngine({ host: `unix://${hostile.socketPath}` });
    const failure = (work: Promise<unknown>) => work.then(() => undefined, (error) => error);
    try {
      hostile.answer = { pieces: ["HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"] };
      const refused = await failure(engine.restartContainer("a", {}, signal));
      assert.deepEqual([refused.code, isRefusedChange(refused)], ["engine_refused", true]);
      const unlisted = await failure(engine.findVolumes(["a"], signal));
      assert.deepEqual([unlisted.code, isRefusedChange(unlisted)], ["engine_refused", false]);
      hostile.answer = { pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n[{]]]]]]"] };
      const broken = await failure(engine.listNetworks({}, signal));
      assert.deepEqual([broken.code, isRefusedChange(broken)], ["engine_refused", false]);
    } finally {
      engine.close();
      await hostile.close();
    }
  });
});
