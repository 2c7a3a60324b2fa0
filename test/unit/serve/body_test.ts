import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { readBytes, readJson } from "../../../src/serve/body.ts";
import { BodyBudget } from "../../../src/serve/body_budget.ts";
import type { HttpRequest } from "../../../src/serve/http_request.ts";
import { toRequest } from "../../../src/serve/wire_request.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const LIMIT = 64;

function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request("http://x/", { method: "POST", body, headers });
}

/** A request whose body comes in pieces as soon as somebody reads it, and ends as `end` says. */
function inPieces(pieces: readonly string[], end?: "end" | "close", rawHeaders: string[] = []) {
  const incoming = Object.assign(new EventEmitter(), {
    ...{ method: "POST", url: "/", rawHeaders, resume: () => {} },
  });
  const onRead = () => {
    for (const each of pieces) incoming.emit("data", new TextEncoder().encode(each));
    if (end !== undefined) incoming.emit(end);
  };
  const { signal } = new AbortController();
  return toRequest(incoming, { signal: () => signal, onRead, cut: () => {} }) ?? assert.fail();
}

function read(request: HttpRequest, clock = createFakeClock()): Promise<unknown> {
  return readJson(request, { maxPayload: LIMIT, clock });
}

/** What an error says: its code and its first problem. */
async function refusal(reading: Promise<unknown>): Promise<[string, string]> {
  const error = await reading.then(() => assert.fail("it was read"), (thrown) => thrown);
  return [error.code, error.problems?.[0]?.message ?? error.message];
}

describe("readJson()", () => {
  const values: [string, unknown][] = [
    ["[]", []],
    [" [1, 2] \n", [1, 2]],
    ["null", null],
    ['"ä"', "ä"],
    ["1".repeat(LIMIT), Number("1".repeat(LIMIT))],
  ];
  for (const [text, value] of values) {
    it(`reads ${text.slice(0, 10)}`, async () => assert.deepEqual(await read(post(text)), value));
  }

  it("joins characters that arrive in pieces, and leaves no timer behind", async () => {
    const clock = createFakeClock();
    assert.deepEqual(await read(inPieces(['["a', 'b"', "]"], "end"), clock), ["ab"]);
    assert.equal(clock.sleepers, 0);
  });

  const refused: [string, BodyInit | null, string][] = [
    ["an empty body", "", "the body is empty"],
    ["no body", null, "the body is empty"],
    ["half a value", "[1,", "the body is not exactly one JSON value"],
    ["two values", "[] []", "the body is not exactly one JSON value"],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "the body is not UTF-8"],
  ];
  for (const [name, body, message] of refused) {
    it(`refuses ${name}`, async () => {
      assert.deepEqual(await refusal(read(post(body))), ["bad_request", message]);
    });
  }

  it("refuses a body that says it is too large without reading it", async () => {
    const request = post("[]", { "content-length": String(LIMIT + 1) });
    assert.equal((await refusal(read(request)))[0], "payload_too_large");
    assert.equal(request.bodyUsed, false);
  });

  it("refuses a body that turns out to be too large before its end", async () => {
    const half = " ".repeat(LIMIT / 2);
    assert.equal((await refusal(read(inPieces([half, half, half]))))[0], "payload_too_large");
  });

  it("gives up on a body that takes longer than 30 seconds", async () => {
    const clock = createFakeClock();
    const answer = refusal(read(inPieces([]), clock));
    await clock.advance(29_999);
    assert.equal(clock.sleepers, 1);
    await clock.advance(1);
    assert.deepEqual(await answer, ["bad_request", "the body took longer than 30 s"]);
  });

  it("gives up the oldest of many half-sent bodies, and no whole one", async () => {
    const budget = new BodyBudget(10_000);
    const clock = createFakeClock();
    const most = { maxPayload: 1000, clock, budget };
    const half = () => inPieces(["x".repeat(900)]);
    const readings = Array.from({ length: 50 }, () => readBytes(half(), most));
    const ends = readings.map((reading) => reading.catch(({ code }) => code));
    assert.equal(await ends[0], "cancelled");
    assert.equal((await readBytes(post("a whole one"), most)).length, 11);
    assert.ok(budget.bytes <= 10_000, `${budget.bytes} bytes are kept`);
    assert.equal(clock.sleepers, 9, "as many as there is room for still have their time");
    await clock.advance(30_000);
    assert.deepEqual([...new Set(await Promise.all(ends))].sort(), ["bad_request", "cancelled"]);
    assert.equal(budget.bytes, 0);
  });

  it("gives up nothing of which no piece is kept, and counts from the first piece", () => {
    const budget = new BodyBudget(1000);
    const dropped: string[] = [];
    const open = (name: string) => {
      const share = budget.open();
      share.onDrop(() => void dropped.push(name));
      return share;
    };
    const [waiting, deaf] = [open("waiting"), open("deaf")];
    deaf.took(800);
    open("late").took(500);
    assert.deepEqual(dropped, ["deaf"]);
    deaf.took(800);
    waiting.took(10);
    open("latest").took(500);
    assert.deepEqual(dropped, ["deaf", "late"]);
    waiting.close();
    waiting.took(900);
    assert.deepEqual(dropped, ["deaf", "late"]);
    assert.equal(budget.bytes, 628);
  });

  it("says so when the client went away", async () => {
    assert.equal((await refusal(read(inPieces(["["], "close"))))[0], "cancelled");
  });
});
