import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { trackedOutput } from "../../../src/cli/standard_streams.ts";

const GONE = Object.assign(new Error("EPIPE"), { code: "EPIPE" });
const FULL = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });

describe("output of the process", () => {
  it("is drained when the last write was taken, and not before", async () => {
    const done: (() => void)[] = [];
    const output = trackedOutput({ write: (_text, taken) => done.push(taken), on: () => {} });
    output.write("a");
    output.write("b");
    let drained = false;
    const waiting = output.drained().then(() => drained = true);
    done[0]?.();
    await Promise.resolve();
    assert.equal(drained, false);
    done[1]?.();
    await waiting;
  });

  it("is drained when nothing was said", async () => {
    assert.equal(await trackedOutput({ write: () => {}, on: () => {} }).drained(), undefined);
  });

  it("takes a reader that went away for one that has read all", async () => {
    const output = trackedOutput({ write: (_text, taken) => taken(GONE), on: () => {} });
    output.write("a");
    assert.equal(await output.drained(), undefined);
  });

  it("tells of what could not be written, however the runtime tells it", async () => {
    const told = trackedOutput({ write: (_text, taken) => taken(FULL), on: () => {} });
    told.write("a");
    assert.equal(await told.drained(), FULL);
    const thrown = trackedOutput({
      write: () => {
        throw FULL;
      },
      on: () => {},
    });
    thrown.write("a");
    assert.equal(await thrown.drained(), FULL);
  });
});
