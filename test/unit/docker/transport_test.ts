import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import net, { type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../../src/docker/api.ts";
import { members } from "../../../src/docker/kept_parts.ts";
import { swarmCalls } from "../../../src/docker/swarm_calls.ts";
import { createTransport, type Transport } from "../../../src/docker/transport.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { requestFraming, WireReader } from "../../fakes/wire.ts";

const NO_SIGNAL = new AbortController().signal;
const METHODS = ["POST", "PUT", "DELETE"].flatMap((method) =>
  [false, true].map((isWhole) => [method, isWhole] as const)
);
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const VERSION = answer(200, "application/json", '{"Version":"26.1","ApiVersion":"1.45"}');

function answer(status: number, type: string, body: string): string {
  return `HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n` +
    body;
}

describe("Transport and EngineApi", () => {
  let directory: string;
  let server: net.Server;
  let transport: Transport;
  /** Answers the n-th request (from 1); nothing means: hang up without a byte. */
  let script: (n: number, line: string) => string | undefined | "silence";
  let lines: string[];
  let connections: Socket[];
  beforeEach(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
    const socketPath = join(directory, "engine.sock");
    lines = [];
    connections = [];
    server = net.createServer((socket) => {
      connections.push(socket);
      socket.on("error", () => {});
      void serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    transport = createTransport({ kind: "unix", socketPath }, { answerTimeoutMs: 5000 });
  });
  afterEach(async () => {
    transport.close();
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await fs.rm(directory, { recursive: true });
  });

  async function serve(socket: Socket): Promise<void> {
    const reader = new WireReader(socket);
    for (let head = await reader.head(); head !== undefined; head = await reader.head()) {
      await reader.body(requestFraming(head), () => {});
      lines.push(head.startLine.replace(" HTTP/1.1", ""));
      const text = script(lines.length, head.startLine);
      if (text === undefined) return void socket.destroy();
      if (text !== "silence") socket.write(text);
    }
  }
  async function get(method = "GET", isWhole = false): Promise<string> {
    const response = await transport.request({ method, path: "/x", isWhole }, NO_SIGNAL);
    return text(response.body);
  }
  async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
    let all = "";
    for await (const chunk of body) all += new TextDecoder().decode(chunk);
    return all;
  }
  const unreachable = (error: unknown) => isStackwrightError(error, "engine_unreachable");

  // Whole answers take another way on Bun, where that has to keep the same promises.
  for (const isWhole of [false, true]) {
    const of = isWhole ? " of a whole answer" : "";

    it(`request() shares one connection among reads${of}`, async () => {
      script = () => OK;
      for (let n = 0; n < 5; n++) assert.equal(await get("GET", isWhole), "ok");
      assert.equal(connections.length, 1);
    });

    it(`request() sends a read${of} again when a shared connection is dead`, async () => {
      script = (n) => n === 2 ? undefined : OK;
      assert.equal(await get("GET", isWhole), "ok");
      assert.equal(await get("GET", isWhole), "ok");
      assert.equal(lines.length, 3);
    });

    it(`request()${of} throws engine_unreachable when the engine keeps hanging up`, async () => {
      script = () => undefined;
      await assert.rejects(get("GET", isWhole), unreachable);
      assert.ok(lines.length <= (isWhole ? 4 : 2));
    });

    it(`request()${of} throws engine_unreachable where nobody listens`, async () => {
      const socketPath = join(directory, "nobody.sock");
      transport.close();
      transport = createTransport({ kind: "unix", socketPath });
      await assert.rejects(
        get("GET", isWhole),
        (error) => unreachable(error) && /is it running/.test((error as Error).message),
      );
    });

    it(`request()${of} throws engine_unreachable when no answer comes in time`, async () => {
      script = () => "silence";
      transport.close();
      const path = join(directory, "engine.sock");
      transport = createTransport({ kind: "unix", socketPath: path }, { answerTimeoutMs: 30 });
      await assert.rejects(
        get("GET", isWhole),
        (error) => unreachable(error) && /no answer within 30 ms/.test((error as Error).message),
      );
    });

    it(`request()${of} throws engine_unreachable when that is cut inside its body`, async () => {
      for (const head of ["Transfer-Encoding: chunked\r\n\r\n5", "Content-Length: 5\r\n"]) {
        script = () => `HTTP/1.1 200 OK\r\n${head}\r\nhel`;
        const response = await transport.request({ method: "GET", path: "/x", isWhole }, NO_SIGNAL);
        setTimeout(() => connections.forEach((socket) => socket.destroy()), 20);
        await assert.rejects(text(response.body), unreachable);
      }
    });

    it(`request()${of} gives an error status, a redirect and its headers on`, async () => {
      script = () => "HTTP/1.1 307 X\r\nLocation: /y\r\nContent-Length: 2\r\n\r\nno";
      const response = await transport.request({ method: "GET", path: "/x", isWhole }, NO_SIGNAL);
      assert.equal(response.status, 307);
      assert.equal(response.headers["location"], "/y");
      assert.equal(await text(response.body), "no");
      response.discard();
      assert.deepEqual(lines, ["GET /x"]);
    });

    it(`request()${of} throws the reason of the signal before, during and after the head`, async () => {
      const reason = new Error("enough");
      script = () => "silence";
      const request = { method: "GET", path: "/x", isWhole };
      const is = (error: unknown) => error === reason;
      await assert.rejects(transport.request(request, AbortSignal.abort(reason)), is);
      const during = new AbortController();
      setTimeout(() => during.abort(reason), 20);
      await assert.rejects(transport.request(request, during.signal), is);
      script = () => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      const after = new AbortController();
      const response = await transport.request(request, after.signal);
      setTimeout(() => after.abort(reason), 20);
      await assert.rejects(text(response.body), is);
    });
  }

  for (const [method, isWhole] of METHODS) {
    it(`request() never sends a ${method} twice${isWhole ? ", for a whole answer" : ""}`, async () => {
      script = (n) => n === 1 || n === 3 ? OK : undefined;
      await get("GET", isWhole);
      const mayHaveActed = (error: unknown) =>
        unreachable(error) && /may have acted/.test((error as Error).message);
      await assert.rejects(get(method, isWhole), mayHaveActed);
      await get(method, isWhole);
      await assert.rejects(get(method, isWhole), mayHaveActed);
      const line = `${method} /x`;
      assert.deepEqual(lines, ["GET /x", line, line, line]);
    });

    it(`request() says that nobody listens to a ${method}${isWhole ? " for all" : ""}`, async () => {
      transport.close();
      const socketPath = join(directory, "nobody.sock");
      transport = createTransport({ kind: "unix", socketPath });
      await assert.rejects(get(method, isWhole), /is it running, and may this user connect/);
    });
  }

  it("request() sends nothing when it is aborted before there is a connection", async () => {
    script = () => OK;
    for (const method of ["GET", "POST"]) {
      const end = new AbortController();
      const waiting = transport.request({ method, path: "/x", isWhole: true }, end.signal);
      end.abort(new Error("nobody listens any more"));
      await assert.rejects(waiting, /nobody listens any more/);
    }
    assert.equal(await get(), "ok");
    assert.deepEqual(lines, ["GET /x"]);
  });

  it("request() ends when it is aborted while a change waits for its answer", async () => {
    const end = new AbortController();
    script = () => {
      setTimeout(() => end.abort(new Error("nobody listens any more")));
      return "silence";
    };
    const request = { method: "POST", path: "/x", body: "{}", isWhole: true };
    await assert.rejects(transport.request(request, end.signal), /nobody listens any more/);
    assert.deepEqual(lines, ["POST /x"]);
  });

  it("request() has no limit of its own for the answer to a change", async () => {
    script = () => {
      setTimeout(() => connections[0]?.write(OK), 100);
      return "silence";
    };
    transport.close();
    const path = join(directory, "engine.sock");
    transport = createTransport({ kind: "unix", socketPath: path }, { answerTimeoutMs: 10 });
    const response = await transport.request(
      { method: "POST", path: "/x", isWhole: true },
      NO_SIGNAL,
    );
    assert.equal(await text(response.body), "ok");
  });

  it("request() ends when it is aborted on a shared connection, before any answer", async () => {
    script = (_, line) => line.includes("/events") ? "silence" : OK;
    for (let turn = 0; turn < 5; turn++) {
      await get();
      const end = new AbortController();
      const waiting = transport.request({ method: "GET", path: "/events" }, end.signal);
      const ended = assert.rejects(waiting, /nobody listens any more/);
      // While it is sent, and later: a runtime may send it again by itself, and tell nobody.
      if (turn % 2 === 1) await new Promise((resolve) => setTimeout(resolve, 5));
      end.abort(new Error("nobody listens any more"));
      await ended;
    }
  });

  it("EngineApi asks for the version once, and again after the engine was unreachable", async () => {
    const api = new EngineApi(transport);
    const list = { method: "GET", path: "/containers/json" } as const;
    script = (_n, line) => line.includes("/version") ? VERSION : answer(200, "x", "[]");
    await api.json(list, NO_SIGNAL);
    await api.json(list, NO_SIGNAL);
    assert.deepEqual(lines, [
      "GET /version",
      "GET /v1.45/containers/json",
      "GET /v1.45/containers/json",
    ]);
    script = () => undefined;
    await assert.rejects(api.json(list, NO_SIGNAL), unreachable);
    lines = [];
    script = (_n, line) =>
      line.includes("/version") ? VERSION.replace("1.45", "1.42") : answer(200, "x", "[]");
    await api.json(list, NO_SIGNAL);
    assert.deepEqual(lines, ["GET /version", "GET /v1.42/containers/json"]);
  });

  const refusals = [
    ["a page of a proxy", answer(403, "text/html", "<html>no</html>"), "403"],
    ["the engine's message", answer(409, "application/json", '{"message":"busy"}'), "409 busy"],
    ["nothing", answer(500, "text/plain", ""), "500"],
    [
      "the word that it speaks TLS",
      answer(400, "text/plain", "Client sent an HTTP request to an HTTPS server.\n"),
      "400 Client sent an HTTP request to an HTTPS server. It wants certificates: ca, cert and key",
    ],
  ] as const;
  for (const [title, response, ending] of refusals) {
    it(`EngineApi names the call when it is refused with ${title}`, async () => {
      script = (_n, line) => line.includes("/version") ? VERSION : response;
      const api = new EngineApi(transport);
      await assert.rejects(
        api.send({ method: "POST", path: "/containers/a/start", query: { t: 1 } }, NO_SIGNAL),
        (error) =>
          isStackwrightError(error, "engine_refused") &&
          error.message === `engine refused POST /containers/a/start: ${ending}`,
      );
    });
  }

  it("EngineApi reads few answers at once, however many calls there are", async () => {
    let [now, most] = [0, 0];
    async function* body(text: string) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 1));
      yield new TextEncoder().encode(text);
      now--;
    }
    const api = new EngineApi({
      description: "",
      request: ({ path }) =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: body(path === "/version" ? '{"ApiVersion":"1.45"}' : "[]"),
          discard: () => {},
        }),
      close: () => {},
    });
    const shape = { keep: members({}), of: () => 1 };
    await Promise.all(Array.from({ length: 50 }, async (_, at) => {
      const request = { method: "GET", path: `/x${at}` } as const;
      if (at % 2 === 0) await api.json(request, NO_SIGNAL);
      else await api.list(request, shape, NO_SIGNAL);
    }));
    assert.equal(most, 8);
  });

  it("distribution() takes nothing but a digest, which becomes part of an image's name", async () => {
    const { distribution } = swarmCalls(new EngineApi(transport));
    const told = async (digest: string) => {
      script = (_n, line) => {
        if (line.includes("/version")) return VERSION;
        return answer(200, "x", JSON.stringify({ Descriptor: { digest } }));
      };
      return (await distribution("app:1", "", NO_SIGNAL)).kind;
    };
    const digest = `sha256:${"0a".repeat(32)}`;
    assert.equal(await told(digest), "found");
    for (const other of ["", "other.example/x", `${digest}\n`, `${digest}@other.example/x`]) {
      assert.equal(await told(other), "unknown");
    }
  });

  it("EngineApi says so when the answer is not JSON", async () => {
    script = () => answer(200, "text/html", "<html>");
    await assert.rejects(
      new EngineApi(transport).version(NO_SIGNAL),
      (error) => isStackwrightError(error, "engine_refused") && /not JSON/.test(error.message),
    );
  });

  it("EngineApi tells of mutating calls only", async () => {
    script = (_n, line) => line.includes("/version") ? VERSION : answer(200, "x", "{}");
    const told: string[] = [];
    const api = new EngineApi(transport, { onMutation: (call) => told.push(call.path) });
    await api.send({ method: "GET", path: "/info" }, NO_SIGNAL);
    await api.send({ method: "POST", path: "/containers/a/wait" }, NO_SIGNAL);
    await api.send({ method: "POST", path: "/containers/a/stop" }, NO_SIGNAL);
    await api.send({ method: "DELETE", path: "/containers/a" }, NO_SIGNAL);
    assert.deepEqual(told, ["/containers/a/stop", "/containers/a"]);
  });
});
