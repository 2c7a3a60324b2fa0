import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lastLines } from "../../../src/deploy/last_lines.ts";
import type { Engine } from "../../../src/docker/engine.ts";
import { errors } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

describe("lastLines()", () => {
  it("keeps the end of the output, which says why, within what records keep", async () => {
    const engine = {
      inspectContainer: () => Promise.resolve(undefined),
      containerLogs: () =>
        Promise.resolve([..."abc"].map((each) => each.repeat(900)).concat("why")),
    } as unknown as Engine;
    const parts = { engine, clock: createFakeClock() };
    assert.equal(
      await lastLines(parts, "a".repeat(64), new AbortController().signal),
      `; last output:\n${"c".repeat(900)}\nwhy`,
    );
  });

  it("says in few words that a logging driver keeps none, and what else is in the way", async () => {
    const saidOf = (why: string) => {
      const engine = {
        inspectContainer: () => Promise.resolve(undefined),
        containerLogs: () => Promise.reject(errors.engine_refused(why)),
      } as unknown as Engine;
      const parts = { engine, clock: createFakeClock() };
      return lastLines(parts, "a".repeat(64), new AbortController().signal);
    };
    assert.equal(
      await saidOf(
        "engine refused GET /x/logs: 501 configured logging driver does not support reading",
      ),
      "; its logging driver keeps no output",
    );
    assert.equal(await saidOf("gone"), "; its output could not be read: gone");
  });
});
