import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createEngine } from "../../../src/docker/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const VERSION = `HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{"ApiVersion":"1.45"}`;
const never = new AbortController().signal;

describe("EngineApi.inTime()", () => {
  it("gives a call up that gets no answer, and names it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-limit-"));
    const socketPath = join(directory, "engine.sock");
    const sockets = new Set<net.Socket>();
    let asked = 0;
    const server = net.createServer((socket) => {
      sockets.add(socket);
      socket.on("data", (bytes) => {
        if (String(bytes).includes("/networks")) asked++;
        else socket.write(VERSION);
      });
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const clock = createFakeClock();
    const engine = createEngine({ host: `unix://${socketPath}`, clock });
    try {
      const answer = engine.listNetworks({}, never);
      const failure = assert.rejects(answer, {
        code: "engine_unreachable",
        message: /GET \/networks within 120 s/,
      });
      while (asked === 0) await settle();
      await clock.advance(119_000);
      assert.equal(clock.sleepers, 1);
      await clock.advance(1_000);
      await failure;
      assert.equal(clock.sleepers, 0);
    } finally {
      engine.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    }
  });
});
