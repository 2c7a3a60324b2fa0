import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetricsHandler } from "../../../src/serve/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const contentType = "text/plain; version=0.0.4";
const handler = createMetricsHandler(
  { contentType, text: () => Promise.resolve("x 1\n") },
  createFakeClock(),
  new AbortController().signal,
);
const never = new AbortController().signal;
const ask = (method: string, path: string) =>
  handler(new Request(`http://localhost:9120${path}`, { method }), { remote: "" });

describe("createMetricsHandler()", () => {
  it("answers GET /metrics and nothing else", async () => {
    const answer = await ask("GET", "/metrics");
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4");
    assert.equal(await answer.text(), "x 1\n");
    assert.equal(await (await ask("HEAD", "/metrics")).text(), "");
    assert.equal((await ask("GET", "/")).status, 404);
    const wrong = await ask("POST", "/metrics");
    assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD"]);
  });

  it("makes one text at a time for all who ask, never one of before, and rests in between", async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const made: PromiseWithResolvers<string>[] = [];
    const text = () => {
      const one = Promise.withResolvers<string>();
      made.push(one);
      return one.promise;
    };
    const busy = createMetricsHandler({ contentType, text }, clock, stop.signal);
    const scrape = async () => {
      const request = new Request("http://localhost:9120/metrics");
      return await (await busy(request, { remote: "" })).text();
    };
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const first = scrape();
    await turn();
    const others = Array.from({ length: 1000 }, scrape);
    await clock.advance(100);
    made[0]?.resolve("1");
    assert.equal(await first, "1");
    await turn();
    assert.deepEqual([made.length, clock.sleepers], [1, 1]);
    await clock.advance(900);
    await turn();
    assert.equal(made.length, 2);
    await clock.advance(100);
    made[1]?.resolve("2");
    assert.deepEqual(new Set(await Promise.all(others)), new Set(["2"]));
    await turn();
    assert.equal(clock.sleepers, 1);
    stop.abort();
    assert.equal(clock.sleepers, 0);
  });

  it("answers those who come after one that could not be made", async () => {
    let count = 0;
    const text = () => ++count === 1 ? Promise.reject(new Error("no")) : Promise.resolve("x 1\n");
    const failing = createMetricsHandler({ contentType, text }, createFakeClock(), never);
    const scrape = () => failing(new Request("http://localhost:9120/metrics"), { remote: "" });
    await assert.rejects(scrape, /no/);
    assert.equal(await (await scrape()).text(), "x 1\n");
  });
});
