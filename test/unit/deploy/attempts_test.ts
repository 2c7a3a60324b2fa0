import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attempted } from "../../../src/deploy/attempts.ts";
import type { RolloutResult } from "../../../src/deploy/mod.ts";
import { errors } from "../../../src/model/mod.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "./releases.ts";

const SIGNAL = new AbortController().signal;
const ON_DISK = { tree: "/trees/next", release: releaseOf("next", []) };
const AWAY = errors.engine_unreachable("no engine");
const BAD = errors.deploy_failed("bad");

/** Goes forward, and back, by functions that are told which time it is; all waits are over at once. */
async function outcome(
  forward: (time: number) => void,
  back: (time: number) => void = () => {},
): Promise<{ result: RolloutResult; calls: string; slept: readonly number[] }> {
  const calls: string[] = [];
  const slept: number[] = [];
  const clock = {
    now: () => new Date(0),
    uptime: () => 0,
    sleep: (milliseconds: number) => Promise.resolve(void slept.push(milliseconds)),
  };
  const engine = createMemoryEngine();
  const parts = { engine, clock, log: createRecordingLog(), progress: () => {} };
  const timesOf = (word: string) => calls.filter((each) => each.startsWith(word)).length;
  const result = await attempted(parts, { next: ON_DISK, previous: ON_DISK, rollback: true }, {
    forward(isRest) {
      calls.push(isRest ? "forward again" : "forward");
      return Promise.resolve().then(() => forward(timesOf("forward"))).then(() => ({ web: "1" }));
    },
    back() {
      calls.push("back");
      return Promise.resolve().then(() => back(timesOf("back"))).then(() => "restored web");
    },
  }, SIGNAL);
  return { result, calls: calls.join(", "), slept };
}

function fail(error: Error): never {
  throw error;
}

describe("attempts at a rollout", () => {
  it("go on with the rest where the engine went away, three times at most", async () => {
    const again = await outcome((time) => time < 3 && fail(AWAY));
    assert.equal(again.calls, "forward, forward again, forward again");
    assert.deepEqual(again.result, { kind: "deployed", images: { web: "1" } });
    const never = await outcome(() => fail(AWAY));
    assert.equal(never.calls, "forward, forward again, forward again, back");
    assert.equal(never.result.kind, "rolled_back");
  });

  it("put the release before back three times, and wait longer each time", async () => {
    const { result, calls, slept } = await outcome(() => fail(BAD), () => fail(BAD));
    assert.equal(calls, "forward, back, back, back");
    assert.deepEqual(slept, [1000, 2000]);
    assert.deepEqual(result, {
      kind: "failed",
      error: BAD,
      text: "putting the previous release back failed too: bad",
    });
  });

  it("put back once what does not get healthy, and what is refused", async () => {
    for (const error of [errors.unhealthy("ill"), errors.conflict("its volume is another's")]) {
      const { result, calls } = await outcome(() => fail(BAD), () => fail(error));
      assert.equal(calls, "forward, back");
      assert.equal(result.kind, "failed");
    }
  });

  it("do not count where the engine was away while it was put back, ten times at most", async () => {
    const some = await outcome(() => fail(BAD), (time) => time < 11 && fail(AWAY));
    assert.equal(some.result.kind, "rolled_back");
    assert.deepEqual(some.slept, []);
    const always = await outcome(() => fail(BAD), () => fail(AWAY));
    assert.equal(always.calls, ["forward", ...Array<string>(13).fill("back")].join(", "));
    assert.equal(always.result.kind, "failed");
  });
});
