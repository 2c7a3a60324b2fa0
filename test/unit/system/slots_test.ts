import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deploying } from "../../../src/system/slots.ts";
import { createLimiter, type Meter } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

/** Remembers gauges by their name, and what was observed. */
function recordingMeter() {
  const gauges: Record<string, number> = {};
  const observed: string[] = [];
  const meter: Meter = {
    count() {},
    move: (name, _labels, by) => void (gauges[name] = (gauges[name] ?? 0) + by),
    observe: (name, labels, seconds) =>
      void observed.push(`${name} ${JSON.stringify(labels)} ${seconds}`),
  };
  return { meter, gauges, observed };
}

describe("deploying()", () => {
  const set = () => {
    const { meter, gauges, observed } = recordingMeter();
    const clock = createFakeClock();
    const limiter = createLimiter(1);
    return { parts: { meter, clock, preparing: limiter, deploying: limiter }, gauges, observed };
  };

  it("counts who waits and who works, and is back at nothing when all is done", async () => {
    const { parts, gauges, observed } = set();
    const never = new AbortController().signal;
    let end = () => {};
    const working = new Promise<void>((resolve) => end = resolve);
    const first = deploying(parts, { repository: "shop" }, () => working, never);
    const second = deploying(
      parts,
      { repository: "shop" },
      () => Promise.reject(new Error("broken")),
      never,
    );
    const failure = assert.rejects(second, /broken/);
    await Promise.resolve();
    assert.deepEqual(gauges, { deployments_queued: 1, deployments_active: 1 });
    end();
    await first;
    await failure;
    assert.deepEqual(gauges, { deployments_queued: 0, deployments_active: 0 });
    assert.equal(observed.length, 2);
    assert.match(observed[0] ?? "", /deployment_queue_duration_seconds .*"outcome":"admitted"/);
  });

  it("does not count who lent its slot, until it has it again", async () => {
    const { parts, gauges } = set();
    const never = new AbortController().signal;
    const seen: unknown[] = [];
    await deploying(parts, { repository: "shop" }, async (slot) => {
      slot.leave();
      seen.push(gauges["deployments_active"]);
      await deploying(parts, { repository: "shop" }, () => Promise.resolve(), never);
      await slot.takeAgain(never);
      seen.push(gauges["deployments_active"]);
      slot.leave();
    }, never);
    assert.deepEqual(seen, [0, 1]);
    assert.deepEqual(gauges, { deployments_queued: 0, deployments_active: 0 });
  });

  it("counts who gave up while waiting", async () => {
    const { parts, gauges, observed } = set();
    const aborted = new AbortController();
    const never = new AbortController().signal;
    let end = () => {};
    const first = deploying(
      parts,
      { repository: "shop" },
      () => new Promise<void>((done) => end = done),
      never,
    );
    const second = deploying(
      parts,
      { repository: "shop" },
      () => Promise.resolve(),
      aborted.signal,
    );
    const failure = assert.rejects(second);
    aborted.abort();
    await failure;
    end();
    await first;
    assert.deepEqual(gauges, { deployments_queued: 0, deployments_active: 0 });
    assert.ok(observed.some((each) => each.includes('"outcome":"gave_up"')));
  });
});
