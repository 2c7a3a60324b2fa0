import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { foundName } from "../../../src/model/mod.ts";
import { nameFound, namingFound } from "../../../src/prepare/kept_names.ts";
import { InstanceKey, Ledger } from "../../../src/record/mod.ts";
import { createIds } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const SIGNAL = new AbortController().signal;
const NAMED = `tag sha256:person ${foundName("sha256:person")}`;

describe("namingFound()", () => {
  /** Parts with an engine that has two images which a person loaded, and one from a registry. */
  const setUp = (pulls = createMemoryLedger(createFakeClock()).pulls.of("")) => {
    const engine = createMemoryEngine();
    let copies: readonly string[] = [];
    const image = (id: string, digests: readonly string[]) => ({
      ...{ id, tags: [], digests, labels: {} },
    });
    engine.listImages = () =>
      Promise.resolve([
        image("sha256:person", copies),
        image("sha256:other", []),
        image("sha256:b", ["b@sha256:2"]),
      ]);
    /** A pull of the person's image, from an author's registry, and what comes after it. */
    const pulling = (then: () => Promise<void> = () => Promise.resolve()) => async () => {
      copies = ["127.0.0.1:5000/a@sha256:1"];
      await then();
    };
    const clock = createFakeClock();
    const parts = { engine, pulls, clock, log: createRecordingLog() };
    return { parts, pulling, calls: engine.calls, clock };
  };

  it("names what was there without a registry before it was pulled, and nothing else", async () => {
    const { parts, pulling, calls } = setUp();
    await namingFound(parts, pulling(), SIGNAL);
    assert.deepEqual([calls, parts.pulls.all()], [[NAMED], []]);
  });

  it("names it also where another image could not be pulled", async () => {
    const { parts, pulling, calls } = setUp();
    const failure = new Error("timeout");
    const failing = pulling(() => Promise.reject(failure));
    await assert.rejects(namingFound(parts, failing, SIGNAL), failure);
    assert.deepEqual(calls, [NAMED]);
  });

  it("pulls also where the engine lists its images too late, or not at all", async () => {
    const ways = [() => new Promise<never>(() => {}), () => Promise.reject(new Error("too long"))];
    for (const listImages of ways) {
      const { parts, pulling, clock } = setUp();
      parts.engine.listImages = listImages;
      const pulled = namingFound(parts, pulling(), SIGNAL);
      await clock.advance(20_000);
      await pulled;
      assert.match(JSON.stringify(parts.log.lines), /pulled without|are not noted before a pull/);
    }
  });

  it("names it for who removes images while the rest is pulled", async () => {
    const { parts, pulling, calls } = setUp();
    const meanwhile = pulling(async () => {
      await nameFound(parts, SIGNAL);
      assert.deepEqual([calls, parts.pulls.all().length], [[NAMED], 1]);
    });
    await namingFound(parts, meanwhile, SIGNAL);
    assert.deepEqual(parts.pulls.all(), []);
  });

  it("has it named later where the engine, or a stop of the service, ended the naming", async () => {
    const { parts, pulling, calls } = setUp();
    const stop = new AbortController();
    const { listImages } = parts.engine;
    parts.engine.listImages = (signal) => (signal.throwIfAborted(), listImages(signal));
    const cutOff = pulling(() => Promise.reject(stop.abort(new Error("stopped"))));
    await assert.rejects(namingFound(parts, cutOff, stop.signal));
    assert.deepEqual(calls, []);
    await nameFound(parts, SIGNAL);
    assert.deepEqual([calls, parts.pulls.all()], [[NAMED], []]);
  });

  it("has it named by the next process where this one is killed before", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-pulls-"));
    const clock = createFakeClock();
    const running = new Set(["first"]);
    const open = (own: string) => {
      const isAlive = (name: string) => running.has(name);
      const processes = { own, isAlive, enter() {}, leave() {} };
      const key = new InstanceKey(new Uint8Array(32));
      const parts = { key, clock, ids: createIds(clock), redact: String, processes };
      return new Ledger(join(directory, "state.db"), parts);
    };
    const [first, second] = [open("first"), open("second")];
    try {
      const { parts, pulling, calls } = setUp(first.pulls.of(""));
      let isPulled = () => {};
      const pulled = new Promise<void>((done) => isPulled = done);
      const endless = pulling(() => (isPulled(), new Promise(() => {})));
      void namingFound(parts, endless, SIGNAL);
      await pulled;
      const others = { ...parts, pulls: second.pulls.of("") };
      await nameFound({ ...others, pulls: second.pulls.of("elsewhere") }, SIGNAL);
      assert.deepEqual(calls, []);
      running.delete("first");
      await nameFound(others, SIGNAL);
      assert.deepEqual([calls, others.pulls.all()], [[NAMED], []]);
    } finally {
      for (const each of [first, second]) each.close();
      await rm(directory, { recursive: true });
    }
  });
});
