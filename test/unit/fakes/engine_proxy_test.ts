import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import net from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type EngineClient } from "../../../src/docker/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { createEngineProxy, type EngineProxy } from "../../fakes/engine_proxy.ts";
import { createFakeEngine, type FakeEngine } from "../../fakes/fake_engine.ts";

const NO_SIGNAL = new AbortController().signal;

describe("createEngineProxy()", () => {
  let directory: string;
  let fake: FakeEngine;
  let proxy: EngineProxy;
  let engine: EngineClient;
  let told: [number, string, number][];
  beforeEach(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
    fake = await createFakeEngine({ socketPath: join(directory, "fake.sock") });
    told = [];
    proxy = await createEngineProxy({
      socketPath: join(directory, "proxy.sock"),
      upstream: fake.socketPath,
      onMutation: (n, call) => void told.push([n, call.path, fake.volumes().length]),
    });
    engine = createEngine({ host: proxy.host });
    await engine.info(NO_SIGNAL);
    proxy.reset();
  });
  afterEach(async () => {
    engine.close();
    await proxy.close();
    await fake.close();
    await fs.rm(directory, { recursive: true });
  });

  const createVolume = (name: string) =>
    engine.api.send({ method: "POST", path: "/volumes/create", json: { Name: name } }, NO_SIGNAL);
  const names = () => fake.volumes().map((volume) => volume.name);

  it("counts calls, mutations and pulls apart", async () => {
    fake.addImage("app:1");
    await createVolume("a");
    await engine.listVolumes({}, NO_SIGNAL);
    const query = { fromImage: "app", tag: "1" };
    await engine.api.send({ method: "POST", path: "/images/create", query }, NO_SIGNAL);
    assert.deepEqual(proxy.calls.map((call) => [call.method, call.path, call.mutating]), [
      ["POST", "/volumes/create", true],
      ["GET", "/volumes", false],
      ["POST", "/images/create?fromImage=app&tag=1", false],
    ]);
    assert.equal(proxy.mutations(), 1);
    assert.equal(proxy.pulls(), 1);
  });

  it("error: answers 500 once and does not forward", async () => {
    proxy.reset({ kind: "error", at: 2, among: "mutating" });
    await createVolume("a");
    await engine.listVolumes({}, NO_SIGNAL);
    await assert.rejects(
      createVolume("b"),
      (error) =>
        isStackwrightError(error, "engine_refused") && /: 500 injected fault/.test(error.message),
    );
    assert.deepEqual(names(), ["a"]);
    await createVolume("c");
    assert.deepEqual(names(), ["a", "c"]);
  });

  it("timeout: neither answers nor forwards", async () => {
    proxy.reset({ kind: "timeout", at: 1, among: "all" });
    const patience = new AbortController();
    const asked = engine.api.send(
      { method: "POST", path: "/volumes/create", json: { Name: "a" } },
      patience.signal,
    );
    asked.catch(() => {});
    while (proxy.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    patience.abort(new Error("long enough"));
    await assert.rejects(asked, /long enough/);
    assert.deepEqual(names(), []);
    await createVolume("b");
    assert.deepEqual(names(), ["b"]);
  });

  it("cut: the engine acts, and the client never hears of it", async () => {
    proxy.reset({ kind: "cut", at: 1, among: "mutating" });
    await assert.rejects(
      createVolume("a"),
      (error) => isStackwrightError(error, "engine_unreachable"),
    );
    assert.deepEqual(names(), ["a"]);
  });

  it("onMutation() comes after the engine acted, numbered from 1", async () => {
    await createVolume("a");
    await engine.listVolumes({}, NO_SIGNAL);
    await createVolume("b");
    assert.deepEqual(told.filter(([, path]) => path === "/volumes/create"), [
      [1, "/volumes/create", 1],
      [2, "/volumes/create", 2],
    ]);
  });

  it("passes streams on as they come", async () => {
    const stop = new AbortController();
    const reason = new Error("heard it");
    fake.addImage("app:1");
    const listening = assert.rejects(
      (async () => {
        const heard = engine.containerEvents({ labels: {}, since: 0n }, stop.signal);
        for await (const event of heard) {
          assert.equal(event.action, "create");
          stop.abort(reason);
        }
      })(),
      (error) => error === reason,
    );
    await engine.api.send(
      { method: "POST", path: "/containers/create", json: { Image: "app:1" } },
      NO_SIGNAL,
    );
    await listening;
  });

  it("becomes a pipe for an upgraded connection", async () => {
    const upstream = join(directory, "echo.sock");
    const echo = net.createServer((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
        socket.on("data", (chunk) => socket.write(String(chunk).toUpperCase()));
      });
    });
    await new Promise<void>((resolve) => echo.listen(upstream, resolve));
    const piped = await createEngineProxy({ socketPath: join(directory, "pipe.sock"), upstream });
    const client = net.connect(join(directory, "pipe.sock"));
    client.write(
      "POST /session HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    );
    let heard = "";
    const done = new Promise<void>((resolve) => {
      client.on("data", (chunk) => {
        heard += String(chunk);
        if (heard.endsWith("\r\n\r\n")) client.write("hello");
        if (heard.endsWith("HELLO")) resolve();
      });
    });
    await done;
    assert.match(heard, /^HTTP\/1\.1 101 /);
    assert.equal(piped.mutations(), 0);
    client.destroy();
    await piped.close();
    await new Promise((resolve) => echo.close(resolve));
  });
});
