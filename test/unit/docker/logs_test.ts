import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Buffer } from "node:buffer";
import { EngineApi } from "../../../src/docker/api.ts";
import type { Transport } from "../../../src/docker/transport.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import {
  collectLines,
  demultiplex,
  LOG_LIMIT,
  PART,
  singleStream,
  stampedEntries,
} from "../../../src/docker/logs.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { longestStretch } from "../processor_time.ts";

function frame(stream: number, text: string | Uint8Array): Buffer {
  const bytes = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe("demultiplex()", () => {
  const stream = Buffer.concat([
    frame(1, "out\n"),
    frame(2, ""),
    frame(2, "err\n"),
    frame(0, "in"),
  ]);
  for (const size of [1, 3, 8, 9, 1000]) {
    it(`finds the frames when they arrive in pieces of ${size} bytes`, async () => {
      const chunks = await Array.fromAsync(demultiplex(pieces(stream, size)));
      assert.deepEqual(
        chunks.map((chunk) => [chunk.stream, text(chunk.bytes)]),
        [["stdout", "out\n"], ["stderr", ""], ["stderr", "err\n"], ["stdout", "in"]],
      );
    });
  }

  it("drops a frame that was cut off", async () => {
    const cut = Buffer.concat([frame(1, "whole\n"), frame(1, "broken\n").subarray(0, 12)]);
    const chunks = await Array.fromAsync(demultiplex(pieces(cut, 5)));
    assert.deepEqual(chunks.map((chunk) => text(chunk.bytes)), ["whole\n"]);
  });

  it("throws engine_refused when the bytes are no frames", async () => {
    await assert.rejects(
      Array.fromAsync(demultiplex(pieces(Buffer.from("plain text of a terminal"), 4))),
      (error) => isStackwrightError(error, "engine_refused"),
    );
  });
});

describe("collectLines()", () => {
  const lines = (bytes: Uint8Array, size = 4) => collectLines(demultiplex(pieces(bytes, size)));

  it("ends the last words of a start, which have no line end, before those of the next one", async () => {
    const stream = Buffer.concat([frame(1, "o1 "), frame(2, "e1\n"), frame(1, "o2\n")]);
    assert.deepEqual(await lines(stream), ["e1", "o1 ", "o2"]);
    const first = "x".repeat(PART);
    const long = [frame(1, first), frame(1, "and more"), frame(1, "end of a secret\n")];
    assert.deepEqual(await lines(Buffer.concat(long), 1 << 16), [`${first}…`, "end of a secret"]);
    const lone = [frame(1, "a\nb"), frame(1, ""), frame(1, "c\n")];
    assert.deepEqual(await lines(Buffer.concat(lone)), ["a", "b", "c"]);
  });

  it("keeps empty lines and a last line without end, and drops carriage returns", async () => {
    assert.deepEqual(await lines(frame(1, "a\r\n\nb")), ["a", "", "b"]);
  });

  it("reads the output of a terminal as it is", async () => {
    const raw = Buffer.from("one\r\ntwo €\r\n");
    assert.deepEqual(await collectLines(singleStream(pieces(raw, 2))), ["one", "two €"]);
  });

  for (const size of [1, 7, 31, 32, 1000]) {
    it(`takes entries of a terminal apart by the times in front, in pieces of ${size}`, async () => {
      const stamp = (at: number) => `2026-11-28T08:00:0${at}.123456789Z `;
      const own = stamp(9);
      const raw = `${stamp(1)}one\r\n${stamp(2)}${own}of itself\r\n${stamp(3)}last €${stamp(4)}` +
        `words\r\n${stamp(5)}\r\n${stamp(6)}2026-11-28T08:00\r\n${stamp(7)}end`;
      const chunks = stampedEntries(singleStream(pieces(Buffer.from(raw), size)));
      assert.deepEqual(await collectLines(chunks), [
        "one",
        `${own}of itself`,
        "last €",
        "words",
        "",
        "2026-11-28T08:00",
        "end",
      ]);
    });
  }

  it("keeps the newest lines when there are too many", async () => {
    const line = "x".repeat(9_999);
    const many = Array.from({ length: 200 }, (_, at) => frame(1, `${at}${line}\n`));
    const kept = await lines(Buffer.concat(many), 1 << 20);
    assert.ok(kept.join("").length <= LOG_LIMIT && kept.length >= 99);
    assert.ok(kept.at(-1)?.startsWith("199x"));
  });

  it("does not stop the service with bytes that are no text", async () => {
    const lines = Array.from({ length: 40 }, (_, at) => {
      const byte = at % 2 === 0 ? 0xff : 0x30;
      return Buffer.concat([Buffer.alloc(PART - 1, byte), Buffer.from("abcdef\n")]);
    });
    async function* chunks() {
      await Promise.resolve();
      for (const bytes of lines) yield { stream: "stdout", bytes, begins: false } as const;
    }
    assert.ok(await longestStretch(() => collectLines(chunks())) < 500);
  });

  it("keeps the first entry of a line of several, of which others may be lost, and the next line", async () => {
    const first = "x".repeat(PART);
    assert.deepEqual(await lines(frame(1, `${first}\nnext`), 1 << 16), [first, "next"]);
    const several = Buffer.concat([
      frame(1, first),
      frame(1, "tail of a secret\n"),
      frame(1, "a\n"),
    ]);
    assert.deepEqual(await lines(several, 1 << 16), [`${first}…`, "a"]);
    const never = Buffer.concat([frame(1, first), frame(1, first)]);
    assert.deepEqual(await lines(never, 1 << 16), [`${first}…`]);
    const euros = frame(1, `${"x".repeat(PART - 1)}€ and more`);
    assert.deepEqual(await lines(euros, 1 << 16), [`${"x".repeat(PART - 1)}…`]);
  });
});

describe("containerLogs()", () => {
  it("reads logs of sources in turn, none of which keeps others waiting for long", async () => {
    const clock = createFakeClock();
    const asked: string[] = [];
    const transport: Transport = {
      description: "engine",
      request({ path }, signal) {
        const [, id = ""] = /containers\/(\w+)\/logs/.exec(path) ?? [];
        if (id === "") return answered(path);
        asked.push(id);
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason))
        );
      },
      close() {},
    };
    const { containerLogs } = containerCalls(new EngineApi(transport, { clock }));
    const never = new AbortController().signal;
    const late = { code: "engine_unreachable", message: /logs within 20 s/ };
    const read = (count: number, id: string) =>
      Array.from({ length: count }, () => assert.rejects(containerLogs(id, 5, never), late));
    const first = read(20, "evil");
    while (asked.length < 8) await settle();
    await clock.advance(10_000);
    const others = [...read(20, "evil"), ...read(1, "shop")];
    await settle();
    await clock.advance(10_000);
    await Promise.all(first);
    while (asked.length < 16) await settle();
    assert.equal(asked[8], "shop");
    await clock.advance(10_000);
    await Promise.all(others);
    assert.equal(clock.sleepers, 0);
  });
});

describe("containerLogs() of an engine that cuts long lines", () => {
  /** Calls of an engine with a log: it cuts lines at 16 KiB, and counts their parts. */
  function logsOf(log: string, isTerminal: boolean) {
    const parts = (line: string) => Array.from(line.match(/[^]{1,16384}/g) ?? []);
    const entries = log.split(/(?<=\n)/).flatMap(parts);
    const transport: Transport = {
      description: "engine",
      request({ path }) {
        if (!path.includes("/logs")) return answered(path, isTerminal);
        const last = entries.slice(-Number(/tail=(\d+)/.exec(path)?.[1]));
        const stamp = /timestamps=(?:true|1)/.test(path) ? "2026-11-28T08:00:00.123456789Z " : "";
        const body = last.map((each) =>
          isTerminal ? Buffer.from(`${stamp}${each}`) : frame(1, each)
        );
        return Promise.resolve({
          status: 200,
          headers: {},
          body: pieces(Buffer.concat(body), 1000),
          discard() {},
        });
      },
      close() {},
    };
    const { containerLogs } = containerCalls(
      new EngineApi(transport, { clock: createFakeClock() }),
    );
    return containerLogs("1", 20, new AbortController().signal);
  }
  const secret = "canary-7731-Xq9kLmn2Pw84";
  const rest = secret.slice(6);
  /** A line with the secret across the place of the nth cut. */
  const cut = (at: number) => `${"x".repeat(at * 16384 - 6)}${secret}`;

  for (const isTerminal of [false, true]) {
    const how = isTerminal ? "a terminal" : "frames";
    for (const after of [0, 1, 2, 18, 19, 20, 21, 37, 38, 39, 40, 41, 42]) {
      it(`never begins within a secret, ${after} lines before the end of ${how}`, async () => {
        const short = Array.from({ length: after }, (_, at) => `line ${at}\n`).join("");
        const long = `${cut(1)}${"y".repeat(40_000)}\n`;
        for (
          const log of [`${cut(1)}\n${short}`, `${short}${long}${short}`, `${cut(after + 1)}\n`]
        ) {
          const lines = await logsOf(log, isTerminal);
          assert.ok(lines.length <= 20);
          const text = lines.join("\n").replaceAll(secret, "***");
          assert.ok(!text.includes(rest), text.slice(0, 100));
        }
      });
    }
    it(`shows everything of a short log, and the last 20 lines of a longer one, in ${how}`, async () => {
      const short = Array.from({ length: 50 }, (_, at) => `line ${at}`);
      assert.deepEqual(await logsOf(short.slice(0, 20).join("\n"), isTerminal), short.slice(0, 20));
      assert.deepEqual(await logsOf(short.join("\n"), isTerminal), short.slice(-20));
      const long = "x".repeat(100_000);
      assert.deepEqual(await logsOf(`${long}\nend`, isTerminal), [
        `${long.slice(0, PART)}…`,
        "end",
      ]);
      assert.deepEqual(await logsOf(`${"x".repeat(900_000)}\nend`, isTerminal), ["…", "end"]);
    });
  }
});

/** The version, or details of a container by whose id its source is called. */
function answered(path: string, Tty = false) {
  const [, id] = /containers\/(\w+)\/json/.exec(path) ?? [];
  const Labels = { "stackwright.source.name": `h/org/${id}` };
  const value = id === undefined ? { ApiVersion: "1.45" } : { Id: id, Config: { Labels, Tty } };
  async function* body() {
    await Promise.resolve();
    yield new TextEncoder().encode(JSON.stringify(value));
  }
  return Promise.resolve({ status: 200, headers: {}, body: body(), discard() {} });
}
