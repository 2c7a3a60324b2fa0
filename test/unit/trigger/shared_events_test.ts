import assert from "node:assert/strict";
import { it } from "node:test";
import type { ContainerEvent } from "../../../src/docker/mod.ts";
import { SharedEvents } from "../../../src/trigger/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

it("an engine has one stream for all who listen, and who comes late looks first", async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const time = BigInt(clock.now().getTime()) * 1_000_000n;
  let streams = 0;
  let next = Promise.withResolvers<ContainerEvent>();
  const events = new SharedEvents({
    async *events(_since, signal) {
      streams++;
      signal.addEventListener("abort", () => next.reject(signal.reason), { once: true });
      for (;;) {
        const event = await next.promise;
        next = Promise.withResolvers();
        yield event;
      }
    },
    clock,
    log: createRecordingLog(),
    random: () => 1,
  }, stop.signal);
  const heard: string[] = [];
  const follow = (name: string) =>
    events.follow({
      onEvent: ({ action }) => void heard.push(`${name} ${action}`),
      onGap: () => void heard.push(`${name} looks`),
    });
  const say = async (action: string, after: bigint) => {
    next.resolve({ action, detail: "", containerId: "c1", attributes: {}, time: time + after });
    await settle();
  };
  assert.equal(streams, 0);
  const one = follow("one");
  await say("die", 1n);
  const two = follow("two");
  await say("start", 2n);
  next.reject(new Error("cut"));
  next = Promise.withResolvers();
  await settle();
  await clock.advance(1_000);
  await say("destroy", 3n);
  stop.abort();
  await Promise.all([one, two]);
  assert.deepEqual(heard, [
    ...["one looks", "one die"],
    ...["two looks", "one start", "two start"],
    ...["one looks", "two looks", "one destroy", "two destroy"],
  ]);
  assert.equal(streams, 2);
  await follow("late");
  assert.deepEqual([heard.includes("late looks"), streams], [false, 2]);
});

it("remembers a bounded number of events, whatever time an engine says that it is", async () => {
  const stop = new AbortController();
  const clock = createFakeClock();
  const time = 2n ** 62n;
  const event = (containerId: string) => ({
    ...{ action: "die", detail: "", attributes: {}, containerId, time },
  });
  const events = new SharedEvents({
    async *events() {
      for (let number = 0; number < 20_000; number++) yield event(`c${number}`);
      yield event("c19999");
      yield event("c0");
      stop.abort();
    },
    clock,
    log: createRecordingLog(),
    random: () => 1,
  }, stop.signal);
  const heard: string[] = [];
  const onEvent = ({ containerId }: ContainerEvent) => void heard.push(containerId);
  await events.follow({ onEvent, onGap: () => {} });
  assert.equal(heard.length, 20_001);
  assert.equal(heard.at(-1), "c0");
});
