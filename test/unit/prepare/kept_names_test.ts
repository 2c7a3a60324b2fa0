import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foundName } from "../../../src/model/mod.ts";
import { namingFound } from "../../../src/prepare/kept_names.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";

const SIGNAL = new AbortController().signal;

describe("namingFound()", () => {
  const [COPY, PULLED, NEW] = ["127.0.0.1:5000/a@sha256:1", "b:1", "c:1"];
  /** Pulls, on an engine with an image that a person loaded, and one from a registry. */
  const pulling = (pulls: () => Promise<void> = () => Promise.resolve()) => {
    const engine = createMemoryEngine();
    const image = (id: string, digests: string[]) => ({ id, tags: [], digests, labels: {} });
    engine.listImages = () =>
      Promise.resolve([image("sha256:person", []), image("sha256:b", ["b@sha256:2"])]);
    const pulled = async () => {
      engine.images = { [COPY]: "sha256:person", [PULLED]: "sha256:b", [NEW]: "sha256:c" };
      await pulls();
    };
    const done = namingFound(engine, [COPY, PULLED, NEW, "missing:1"], pulled, SIGNAL);
    return { done, calls: engine.calls };
  };

  it("names what was there without a registry before it was pulled, and nothing else", async () => {
    const { done, calls } = pulling();
    await done;
    assert.deepEqual(calls, [`tag sha256:person ${foundName("sha256:person")}`]);
  });

  it("names it also where another image could not be pulled", async () => {
    const failure = new Error("timeout");
    const { done, calls } = pulling(() => Promise.reject(failure));
    await assert.rejects(done, failure);
    assert.equal(calls.length, 1);
  });
});
