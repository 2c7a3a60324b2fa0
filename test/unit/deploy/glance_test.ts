import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Engine } from "../../../src/docker/engine.ts";
import { COMPOSE_LABELS, formatStackKey, type StackKey, stackKey } from "../../../src/model/mod.ts";
import type { RecordedRelease } from "../../../src/record/ledger.ts";
import { createGlance } from "../../../src/deploy/glance.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";

const signal = new AbortController().signal;
const keys = ["a", "b", "c", "d", "none"].map((name) => stackKey("", name));
const oneOff = { labels: { [COMPOSE_LABELS.oneOff]: "True" } };

/** A glance at an engine with containers of four stacks, under the lock of each, and its questions. */
function createLook(count = keys.length) {
  const engine = createMemoryEngine([
    ...["a", "b", "c", "d"].map((name) => runningContainer(name, `web-${name}`)),
    runningContainer("a", "job-a", oneOff),
  ]);
  let lists = 0;
  engine.onList = () => void lists++;
  const stackLock = createWatchedLock();
  const clock = createFakeClock();
  const finished = new Map<string, Date>();
  const ledger = {
    current: ({ name }: StackKey) =>
      finished.has(name) ? { finishedAt: finished.get(name) } as RecordedRelease : undefined,
  };
  const parts = { host: { engine: engine as unknown as Engine }, stackLock, clock, ledger };
  const glance = createGlance(parts, count);
  const lookBy = (by: AbortSignal, key = stackKey("", "")) =>
    stackLock.run(formatStackKey(key), async () => {
      const { containers } = await glance.observe({ key }, by);
      return containers.map(({ service }) => service);
    }, signal);
  const look = (key: StackKey | undefined) => lookBy(signal, key);
  return { engine, stackLock, clock, finished, lists: () => lists, look, lookBy };
}

describe("createGlance()", () => {
  it("sees all stacks by one call, each with its own containers and without one-offs", async () => {
    const { look, lists } = createLook();
    const seen = await Promise.all(keys.map(look));
    assert.deepEqual(seen, [["web-a"], ["web-b"], ["web-c"], ["web-d"], []]);
    assert.equal(lists(), 1);
  });

  it("asks again for those who waited for the look of somebody who was stopped", async () => {
    const { look, lookBy, engine, lists } = createLook();
    const [stopped, begun] = [new AbortController(), Promise.withResolvers<void>()];
    const list = engine.listContainers.bind(engine);
    engine.listContainers = async (labels, by) => {
      if (by !== stopped.signal) return await list(labels, by);
      begun.resolve();
      await new Promise((resolve) => by.addEventListener("abort", resolve));
      throw by.reason;
    };
    const first = lookBy(stopped.signal, keys[0]);
    await begun.promise;
    const others = Promise.all([look(keys[1]), look(keys[2])]);
    stopped.abort(new Error("a person stops a"));
    await assert.rejects(first, /a person stops a/);
    assert.deepEqual(await others, [["web-b"], ["web-c"]]);
    assert.ok(lists() > 0);
  });

  it("asks for each of few stacks", async () => {
    const { look, lists } = createLook(2);
    assert.deepEqual(await Promise.all(keys.slice(0, 2).map(look)), [["web-a"], ["web-b"]]);
    assert.equal(lists(), 2);
  });

  it("asks again for a stack that somebody had in his hands since", async () => {
    const { look, engine, stackLock, lists } = createLook();
    await look(keys[0]);
    await stackLock.run(formatStackKey(keys[1] ?? stackKey("", "")), () => {
      engine.containers = [runningContainer("b", "web-new")];
      return Promise.resolve();
    }, signal);
    assert.deepEqual(await look(keys[1]), ["web-new"]);
    assert.equal(lists(), 2);
    assert.deepEqual(await look(keys[2]), ["web-c"], "nobody had the others");
    assert.equal(lists(), 2);
  });

  it("asks again for a stack that another process deployed since", async () => {
    const { look, clock, finished, lists } = createLook();
    finished.set("a", clock.now());
    await clock.advance(1);
    await look(keys[0]);
    assert.equal(lists(), 1);
    finished.set("b", clock.now());
    await look(keys[1]);
    assert.equal(lists(), 2);
  });

  it("looks again at all of them when what was seen is old", async () => {
    const { look, engine, clock, lists } = createLook();
    await look(keys[0]);
    engine.containers = [];
    await clock.advance(2_000);
    assert.deepEqual(await look(keys[1]), ["web-b"]);
    await clock.advance(1);
    assert.deepEqual(await Promise.all([look(keys[2]), look(keys[3])]), [[], []]);
    assert.equal(lists(), 2);
  });

  it("asks again after the engine failed", async () => {
    const { look, engine } = createLook();
    const { onList } = engine;
    engine.onList = () => {
      throw new Error("no");
    };
    await assert.rejects(look(keys[0]), /no/);
    engine.onList = onList;
    assert.deepEqual(await look(keys[1]), ["web-b"]);
  });

  it("refuses a stack of more containers than are looked at, and no other one", async () => {
    const { look, engine } = createLook();
    const more = Array.from(
      { length: 3001 },
      (_, at) => runningContainer("a", "web", { id: `${at}` }),
    );
    engine.containers = [...engine.containers, ...more];
    await assert.rejects(look(keys[0]), /stack a has 3002 containers .* nothing is decided/);
    assert.deepEqual(await look(keys[1]), ["web-b"]);
  });
});
