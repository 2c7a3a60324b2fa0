import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createEngine, type EngineClient } from "../../../src/docker/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const VERSION = `HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{"ApiVersion":"1.45"}`;
const never = new AbortController().signal;

/** The details of a container whose source is called as its id begins. */
function details(line: string): string {
  const [, source] = /containers\/([a-z]+)/.exec(line) ?? [];
  const body = JSON.stringify({ Config: { Labels: { "stackwright.source.name": source } } });
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** An engine that says its version, details of containers if asked to, and answers nothing else. */
async function silentEngine(tellsDetails = false) {
  const directory = await mkdtemp(join(tmpdir(), "swt-limit-"));
  const socketPath = join(directory, "engine.sock");
  const sockets = new Set<net.Socket>();
  const asked: string[] = [];
  const told: string[] = [];
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const [line = ""] = String(bytes).split("\r\n");
      if (line.includes("/version")) socket.write(VERSION);
      else if (tellsDetails && line.includes("/json")) {
        told.push(line);
        socket.write(details(line));
      } else asked.push(line);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const clock = createFakeClock();
  const engine = createEngine({ host: `unix://${socketPath}`, clock });
  const close = async () => {
    engine.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true, force: true });
  };
  return { engine, clock, asked, told, close };
}

const CALLS: readonly (readonly [string, number, (engine: EngineClient) => Promise<unknown>])[] = [
  ["/networks", 120, (engine) => engine.listNetworks({}, never)],
  ["/containers/a/json", 120, (engine) => engine.inspectContainer("a", never)],
];

describe("EngineApi.inTime()", () => {
  for (const [path, seconds, call] of CALLS) {
    it(`gives a call of ${path} up that gets no answer, and names it`, async () => {
      const { engine, clock, asked, close } = await silentEngine();
      try {
        const failure = assert.rejects(call(engine), {
          code: "engine_unreachable",
          message: new RegExp(`GET ${path} within ${seconds} s`),
        });
        while (asked.length === 0) await settle();
        await clock.advance(seconds * 1000 - 1000);
        assert.equal(clock.sleepers, 1);
        await clock.advance(1_000);
        await failure;
        assert.equal(clock.sleepers, 0);
      } finally {
        await close();
      }
    });
  }

  it("asks whether an engine is there beside any number of other calls", async () => {
    const { engine, asked, close } = await silentEngine();
    const end = new AbortController();
    try {
      const lists = Array.from(
        { length: 300 },
        () => engine.findNetworks(["n"], end.signal).catch(() => {}),
      );
      while (asked.length < 64) await settle();
      const info = engine.info(end.signal).catch(() => {});
      while (asked.length < 65) await settle();
      assert.match(asked.at(-1) ?? "", /\/info /);
      end.abort();
      await Promise.all([...lists, info]);
    } finally {
      await close();
    }
  });

  it("keeps no call waiting for hundreds of containers that are slow to stop", async () => {
    const { engine, asked, close } = await silentEngine();
    const end = new AbortController();
    try {
      const stops = Array.from(
        { length: 300 },
        (_, at) => engine.stopContainer(`c${at}`, 3600, end.signal).catch(() => {}),
      );
      const list = engine.listNetworks({}, end.signal).catch(() => {});
      while (asked.length < 301) await settle();
      assert.equal(asked.filter((each) => each.includes("/networks")).length, 1);
      end.abort();
      await Promise.all([...stops, list]);
    } finally {
      await close();
    }
  });

  it("keeps no call waiting for hundreds of containers that are slow to start", async () => {
    const { engine, asked, close } = await silentEngine(true);
    const end = new AbortController();
    try {
      const started = (each: string) => / \/\S*\/start /.test(each);
      const starts = Array.from(
        { length: 300 },
        (_, at) => engine.startContainer(`evil${at}`, end.signal).catch(() => {}),
      );
      while (asked.filter(started).length < 32) await settle();
      const others = [
        engine.listNetworks({}, end.signal),
        engine.startContainer("shop", end.signal),
      ]
        .map((each) => each.catch(() => {}));
      while (!asked.some((each) => each.includes("/networks"))) await settle();
      while (!asked.some((each) => each.includes("/shop/start"))) await settle();
      assert.equal(asked.filter(started).length, 33);
      end.abort();
      await Promise.all([...starts, ...others]);
    } finally {
      await close();
    }
  });

  it("keeps a call waiting for no longer than those before it, where labels do not tell whose these are", async () => {
    const { engine, clock, asked, told, close } = await silentEngine(true);
    const end = new AbortController();
    try {
      const started = () => asked.filter((each) => / \/\S*\/start /.test(each)).length;
      // Ids without letters: of these containers the engine tells no labels.
      const starts = Array.from(
        { length: 32 },
        (_, at) => engine.startContainer(`${at}`, never).catch((error: Error) => error.message),
      );
      while (started() < 32) await settle();
      const other = engine.startContainer("99", end.signal).catch(() => {});
      // Its details are known, or they would be what is given up.
      while (!told.some((each) => each.includes("/99/")) || clock.sleepers > 32) await settle();
      for (let turn = 0; turn < 20; turn++) await settle();
      assert.equal(started(), 32);
      await clock.advance(120_000);
      assert.match(await starts[0] ?? "", /within 120 s/);
      await Promise.all(starts);
      while (!asked.some((each) => each.includes("/99/start"))) await settle();
      end.abort();
      await other;
    } finally {
      await close();
    }
  });
});

describe("lists of everybody's things", () => {
  it("are asked for once at a time, by all who ask while one is made", async () => {
    const { engine, asked, close } = await silentEngine();
    const end = new AbortController();
    try {
      const ask = () =>
        Array.from({ length: 100 }, () => engine.listContainers({}, end.signal).catch(() => {}));
      const first = ask();
      while (asked.length === 0) await settle();
      await settle();
      assert.equal(asked.length, 1);
      const later = [...ask(), engine.listContainers({ a: "b" }, end.signal).catch(() => {})];
      while (!asked.some((each) => each.includes("filters"))) await settle();
      assert.equal(asked.length, 2);
      end.abort();
      await Promise.all([...first, ...later]);
    } finally {
      await close();
    }
  });
});
