import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SourceRequest, stackKey, type Sync } from "../../../src/model/mod.ts";
import { OpeningAlarm } from "../../../src/trigger/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const MINUTE = 60_000;

function source(url: string): SourceRequest {
  return { kind: "git", url, reference: "main", target: "", deployments: [] };
}

function setUp() {
  const clock = createFakeClock();
  const { deferred } = createMemoryLedger(clock);
  const asked: Sync[] = [];
  const stop = new AbortController();
  const log = createRecordingLog();
  const submit = (work: Sync) => void asked.push(work);
  const alarm = new OpeningAlarm({ deferred, submit, clock, log }, stop.signal);
  const put = (name: string, url: string, minutes?: number) => {
    const retryAt = new Date(clock.now().getTime() + (minutes ?? 0) * MINUTE);
    const when = minutes === undefined ? {} : { retryAt };
    deferred.set(stackKey("", name), {
      trigger: "webhook",
      request: source(url),
      asker: { source: url, reference: "" },
      ...when,
    });
    alarm.note();
  };
  const urls = () => asked.splice(0).flatMap(({ sources }) => sources.map(({ url }) => url));
  return { clock, deferred, asked, alarm, put, urls, stop };
}

describe("the alarm of openings", () => {
  it("asks for what waits when its window opens, once for each source, with one timer", async () => {
    const { clock, asked, put, urls } = setUp();
    put("shop", "a", 60);
    put("blog", "a", 60);
    put("wiki", "b", 30);
    put("never", "c");
    await clock.advance(0);
    assert.equal(clock.sleepers, 1);
    await clock.advance(30 * MINUTE - 1);
    assert.deepEqual(urls(), []);
    await clock.advance(1);
    const [{ kind, trigger, origin }] = asked as [Sync];
    assert.deepEqual([kind, trigger, origin], ["sync", "webhook", "automatic"]);
    assert.deepEqual(urls(), ["b"]);
  });

  it("asks for everything when the clock was set back, since windows open at other times", async () => {
    const { clock, put, urls } = setUp();
    put("shop", "a", 60);
    put("never", "b");
    await clock.advance(0);
    clock.set(-365 * 24 * 60 * MINUTE);
    await clock.advance(10 * MINUTE);
    assert.deepEqual(urls().sort(), ["a", "b"]);
  });

  it("asks again for what nothing was decided about, and not for what was", async () => {
    const { clock, deferred, alarm, put, urls } = setUp();
    put("shop", "a", 1);
    put("wiki", "b", 1);
    await clock.advance(MINUTE);
    assert.deepEqual(urls(), ["a", "b"]);
    deferred.remove(stackKey("", "shop"));
    alarm.note();
    await clock.advance(5 * MINUTE);
    assert.deepEqual(urls(), ["b"]);
  });

  it("asks ever more seldom for what nothing is decided about, each hour in the end", async () => {
    const { clock, put, urls } = setUp();
    put("shop", "a", 1);
    const asked: number[] = [];
    for (let minute = 1; minute <= 300; minute++) {
      await clock.advance(MINUTE);
      if (urls().length > 0) asked.push(minute);
    }
    assert.deepEqual(asked, [1, 6, 16, 36, 76, 136, 196, 256]);
    put("shop", "a", 1);
    await clock.advance(MINUTE);
    await clock.advance(5 * MINUTE);
    assert.deepEqual(urls(), ["a", "a"]);
  });

  it("asks once for all that waits of a request, also where it was asked for at other times before", async () => {
    const { clock, put, urls } = setUp();
    put("shop", "a", 1);
    put("blog", "a", 3);
    const asked: number[] = [];
    for (let minute = 1; minute <= 40; minute++) {
      await clock.advance(MINUTE);
      if (urls().length > 0) asked.push(minute);
    }
    assert.deepEqual(asked, [1, 3, 8, 18, 38]);
  });

  it("asks for each of two requests for one repository that differ in what they deploy", async () => {
    const { clock, deferred, alarm, asked } = setUp();
    const asker = { source: "a", reference: "refs/heads/main" };
    for (const name of ["shop", "wiki"]) {
      const deployments = [{ deployment: { name }, given: new Set(["name"]) }];
      const request = { ...source("a"), deployments } as unknown as SourceRequest;
      const retryAt = new Date(clock.now().getTime() + MINUTE);
      deferred.set(stackKey("", name), { trigger: "poll", request, asker, retryAt });
    }
    alarm.note();
    await clock.advance(MINUTE);
    const names = asked.flatMap(({ sources }) =>
      sources.flatMap(({ deployments }) => deployments.map(({ deployment }) => deployment.name))
    );
    assert.deepEqual(names, ["shop", "wiki"]);
  });

  it("asks for everything at the start, and for nothing after the end", async () => {
    const { clock, alarm, put, urls, stop } = setUp();
    put("shop", "a", 600);
    put("never", "c");
    alarm.start();
    assert.deepEqual(urls(), ["a", "c"]);
    put("shop", "a", 10);
    stop.abort();
    await clock.advance(60 * MINUTE);
    assert.deepEqual([urls(), clock.sleepers], [[], 0]);
  });
});
