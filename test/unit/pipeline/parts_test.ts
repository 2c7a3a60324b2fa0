import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStackwrightError, StackwrightError } from "../../../src/model/mod.ts";
import { partsFor, partsToLook, type PipelineParts } from "../../../src/pipeline/parts.ts";

const { signal } = new AbortController();

describe("the parts for a plan", () => {
  for (const context of ["default", "nas"]) {
    it(`have an engine that looks and changes nothing (${context})`, async () => {
      const called: string[] = [];
      const call = (name: string) => () => Promise.resolve(void called.push(name));
      const engine = { info: call("info"), removeVolume: call("removeVolume"), swarm: {} };
      const host = { engine, info: call("asked") };
      const parts = {
        host,
        hosts: { of: () => Promise.resolve(host) },
      } as unknown as PipelineParts;
      const { host: { engine: looks } } = await partsToLook(parts, { context }, signal);
      await looks.info(signal);
      await assert.rejects(looks.removeVolume("data", signal), /BUG: a plan was to change/);
      assert.equal(called.at(-1), "info");
    });
  }
});

describe("the parts for a stack", () => {
  for (const code of ["bad_request", "settings_invalid"] as const) {
    it(`are none where its context is no good, whose fault it is alone (${code})`, async () => {
      const of = () => Promise.reject(new StackwrightError(code, "the context nas is no good"));
      // Nothing else is asked.
      const parts = { hosts: { of } } as unknown as PipelineParts;
      await assert.rejects(partsFor(parts, { context: "nas" }, signal), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.equal(error.message, "the context nas is no good. Nothing was changed");
        return true;
      });
    });
  }
});
