import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readList, readValue } from "../../../src/docker/answer.ts";
import { containerEvents } from "../../../src/docker/events.ts";
import { EngineApi } from "../../../src/docker/api.ts";
import { anyMembers, members, short, USED_LABELS } from "../../../src/docker/kept_parts.ts";
import { EnginePlaces } from "../../../src/docker/places.ts";
import type { JsonRecord } from "../../../src/docker/json.ts";
import type { Transport } from "../../../src/docker/transport.ts";
import type { TransportResponse } from "../../../src/docker/transport_messages.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { systemClock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { randomFrom } from "../../fakes/random.ts";
import { until } from "../../flow/until.ts";

const never = new AbortController().signal;
const refused = (error: unknown) => isStackwrightError(error, "engine_refused");

function answer(chunks: Iterable<Uint8Array>): TransportResponse {
  const body = (async function* () {
    yield* chunks;
  })();
  return { status: 200, headers: {}, body, discard: () => {} };
}

function* cut(text: string, sizes: () => number): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    const size = sizes();
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const NAMES = ["Id", "Labels", "Name"];
const KEEP = members({ Id: "short", Labels: "whole", Name: "whole" });
/** Several chunks long. */
const FILL = { Id: "fill", Other: "x".repeat(300_000) };

function reading() {
  return { clock: systemClock, places: new EnginePlaces(), leftOut: () => {} };
}

async function listed(text: string, sizes: () => number, under?: string): Promise<JsonRecord[]> {
  const shape = { keep: KEEP, ...reading(), ...(under === undefined ? {} : { under }) };
  return await readList(answer(cut(text, sizes)), { ...shape, of: (each) => each }, never);
}

describe("readList()", () => {
  const random = randomFrom(7);
  const word = () => ["", "a", 'q"', "\\", "€😀", "[", "]}", ",", ":", "Id", "\n"][random(11)];
  const entry = () => ({
    Id: `${random(100)}${word()}`,
    Other: { Id: word(), deep: [[word()], { a: [word(), 1.5e-3, null, true] }] },
    Labels: { [`${word()}`]: word(), b: word() },
    [`${word()}?`]: [word()],
    ...(random(2) === 0 ? { Name: [word(), { x: word() }] } : {}),
  });
  const kept = (all: readonly object[]) =>
    all.map((each) =>
      Object.fromEntries(Object.entries(each).filter(([key]) => NAMES.includes(key)))
    );

  for (const under of [undefined, "Volumes"]) {
    it(`finds what JSON.parse() finds, however it is cut, ${under ?? "at the top"}`, async () => {
      for (let time = 0; time < 40; time++) {
        const all = [entry(), FILL, ...Array.from({ length: random(21) }, entry)];
        const value = under === undefined
          ? all
          : { Warnings: ["Volumes", [1]], [under]: all, Z: [{}] };
        const text = JSON.stringify(value, null, time % 3);
        const found = await listed(text, () => 1 + random(20_000), under);
        assert.deepEqual(kept(found), kept(all));
        // Nobody reads the others, so nobody holds them.
        assert.ok(!JSON.stringify(found).includes("deep"));
      }
    });
  }

  it("takes an empty list, and null for one", async () => {
    for (const text of ["[]", "null", " [ ] "]) assert.deepEqual(await listed(text, () => 1), []);
    for (const text of ["{}", '{"Volumes":null}', '{"Volumes":[],"Warnings":null}']) {
      assert.deepEqual(await listed(text, () => 3, "Volumes"), []);
    }
  });

  it("refuses what is no JSON, or ends too early", async () => {
    const long = JSON.stringify([FILL]);
    for (
      const text of ["<html>", `<html>${"x".repeat(400_000)}`, long.slice(0, -1), long.slice(0, -9)]
    ) {
      await assert.rejects(listed(text, () => 10_000), SyntaxError);
    }
  });

  it("passes over what nobody reads, however long it is, and over an entry that is too large", async () => {
    const long = 'x\\u2028"'.repeat(2 << 20);
    const sizes = () => 1 + random(1 << 17);
    const entries = [{ Other: long, Id: long }, { Name: long }, { Id: "1" }, {
      Labels: { a: "b" },
    }];
    const found = await listed(JSON.stringify(entries), sizes);
    assert.deepEqual(found, [{ Id: false }, { Id: "1" }, { Labels: { a: "b" } }]);
  });

  it("reads parts of parts, and of a list what has a certain member", async () => {
    const keep = members({
      Labels: USED_LABELS,
      Ports: members(short("IP", "PublicPort"), "PublicPort"),
      Networks: anyMembers(members(short("Id"))),
    });
    const entry = {
      Ports: [{ IP: "a" }, { IP: "b", PublicPort: 1, Type: "tcp" }, {}, { PublicPort: [2] }, null],
      Networks: { 'a"}': { Id: "1", Aliases: ["x"] }, b: null },
      Labels: { a: "x", "stackwright.name": "y", "com.docker.compose.project": "]z" },
    };
    const text = JSON.stringify([entry, { Labels: null, Ports: null }], null, 1);
    for (let time = 0; time < 20; time++) {
      const chunks = answer(cut(text, () => 1 + random(9)));
      const found = await readList(chunks, { ...reading(), keep, of: (each) => each }, never);
      assert.deepEqual(found, [{
        Ports: [{ IP: "b", PublicPort: 1 }, { PublicPort: [2] }, null],
        Networks: { 'a"}': { Id: "1" }, b: null },
        Labels: { "stackwright.name": "y", "com.docker.compose.project": "]z" },
      }, { Labels: null, Ports: null }]);
    }
  });

  it("refuses a list that has too many entries without names", async () => {
    const many = `[${"0,".repeat(600_000)}0]`;
    await assert.rejects(listed(many, () => 10_000), refused);
  });

  it("parses large entries one after the other, each after a rest", async () => {
    const members = Array.from({ length: 20_000 }, (_, at) => `"m${at}":1`).join();
    const text = `[{"Other":"${"x".repeat(300_000)}","Labels":{${members}}}]`;
    const clock = createFakeClock();
    const places = new EnginePlaces();
    let read = 0;
    const shape = { ...reading(), keep: KEEP, clock, places, of: () => ++read };
    const all = Array.from(
      { length: 3 },
      () => readList(answer(cut(text, () => 60_000)), shape, never),
    );
    for (let before = 0; before < all.length; before++) {
      await until(() => clock.sleepers === 1);
      assert.equal(read, before);
      await clock.advance(21);
      await all[before];
    }
  });
});

describe("readValue()", () => {
  const parts = { clock: systemClock, places: new EnginePlaces() };
  const read = (text: string) => readValue(answer(cut(text, () => 60_000)), parts, never);

  it("parses large answers one after the other, each after a rest", async () => {
    const members = Array.from({ length: 20_000 }, (_, at) => `"m${at}":1`).join();
    const clock = createFakeClock();
    const all = Array.from({ length: 3 }, () => answer(cut(`{${members}}`, () => 60_000)));
    let read = 0;
    const places = new EnginePlaces();
    const done = all.map((each) =>
      readValue(each, { clock, places }, never).then(() => read++, (error) => error)
    );
    for (let before = 0; before < all.length; before++) {
      await until(() => clock.sleepers === 1);
      assert.equal(read, before);
      await clock.advance(20);
      await done[before];
    }
    assert.equal(read, all.length);
  });
  it("refuses more bytes than may come", async () => {
    const how = { ...parts, mostBytes: 100 };
    const text = (length: number) => answer(cut(`"${"x".repeat(length)}"`, () => 60));
    assert.equal(await readValue(text(98), how, never), "x".repeat(98));
    await assert.rejects(readValue(text(99), how, never), refused);
  });

  it("refuses what takes long to parse before it is parsed", async () => {
    const names = Array.from({ length: 300_001 }, (_, at) => `"${at}":0`).join();
    const deep = "[".repeat(65);
    for (
      const text of [
        deep,
        deep + "]".repeat(65),
        "[".repeat(1 << 22),
        `{${names}}`,
        " ".repeat(9 << 20),
      ]
    ) {
      await assert.rejects(read(text), refused);
    }
    const deepest = "[".repeat(64) + "]".repeat(64);
    assert.equal(JSON.stringify(await read(deepest)), deepest);
    assert.deepEqual(await read(JSON.stringify({ a: "[".repeat(1000) + '"\\' })), {
      a: "[".repeat(1000) + '"\\',
    });
  });
});

/** An engine that answers its version, then what it is told to. */
function apiOf(bodies: () => TransportResponse, clock = createFakeClock()): EngineApi {
  const version = '{"Version":"26.1","ApiVersion":"1.45"}';
  const transport: Transport = {
    description: "test",
    request: ({ path }) =>
      Promise.resolve(path === "/version" ? answer(cut(version, () => 99)) : bodies()),
    close: () => {},
  };
  return new EngineApi(transport, { clock });
}

describe("containerEvents()", () => {
  const line = `{"Action":"die","Actor":{"ID":"1"}}\n`;
  const storm = (lines: number) =>
    answer(Array.from({ length: lines / 100 }, () => new TextEncoder().encode(line.repeat(100))));
  const hear = async (api: EngineApi) => {
    let count = 0;
    const ended = (async () => {
      for await (const _ of containerEvents(api, { labels: {} }, never)) count++;
    })().catch((error: unknown) => error);
    return { error: await ended, count };
  };

  it("hears a storm, and gives up what never ends", async () => {
    const some = await hear(apiOf(() => storm(20_000)));
    assert.ok(isStackwrightError(some.error, "engine_unreachable"));
    assert.equal(some.count, 20_000);
    const more = await hear(apiOf(() => storm(100_000)));
    assert.ok(isStackwrightError(more.error, "engine_refused"));
    assert.ok(more.count > 20_000 && more.count < 50_000, String(more.count));
  });
});

describe("EngineApi.version()", () => {
  it("goes on for others when who asked first gives up", async () => {
    let told: (response: TransportResponse) => void = () => {};
    let aborted = false;
    const transport: Transport = {
      description: "test",
      request: (_request, signal) => {
        signal.addEventListener("abort", () => void (aborted = true));
        return new Promise((resolve) => void (told = resolve));
      },
      close: () => {},
    };
    const api = new EngineApi(transport, { clock: createFakeClock() });
    const first = new AbortController();
    const gone = assert.rejects(api.version(first.signal), /enough/);
    const second = api.version(never);
    first.abort(new Error("enough"));
    await gone;
    assert.equal(aborted, false);
    told(answer(cut('{"Version":"1","ApiVersion":"1.45"}', () => 5)));
    assert.equal((await second).apiVersion, "1.45");
    const third = new AbortController();
    const late = new EngineApi(transport, { clock: createFakeClock() });
    const alone = assert.rejects(late.version(third.signal), /enough/);
    third.abort(new Error("enough"));
    await alone;
    assert.equal(aborted, true);
    // The question that was given up may take a while to end.
    const next = late.version(never);
    told(answer(cut('{"Version":"1","ApiVersion":"1.44"}', () => 5)));
    assert.equal((await next).apiVersion, "1.44");
  });
});
