import * as fs from "node:fs/promises";
import net, { type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a hostile engine sends: pieces, the last of them for ever where it says so. */
interface Hostility {
  readonly pieces: readonly string[];
  /** Sent again and again, until nobody listens. */
  readonly forever?: string;
  /** Milliseconds between two of them. */
  readonly pauseMs?: number;
  /** Whether the connection ends after the last piece; it stays open otherwise. */
  readonly ends?: boolean;
}

const head = (status: string, more = "") =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${more}`;
const CHUNKED = head("200 OK", "Transfer-Encoding: chunked\r\n\r\n");
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const whole = (status: string, body: string) =>
  head(status, `Content-Length: ${body.length}\r\n\r\n${body}`);
const BLOCK = 64 << 10;
const members = (count: number) =>
  Array.from({ length: count }, (_, at) => `"member ${at}":{}`).join();

/** Answers that no engine should give, and some may. */
export const HOSTILE: Readonly<Record<string, Hostility>> = {
  "deep JSON": { pieces: [CHUNKED], forever: chunk("[".repeat(BLOCK)) },
  "deep JSON in a list": { pieces: [CHUNKED, chunk("[")], forever: chunk('{"Id":'.repeat(10_000)) },
  "a list of small things": { pieces: [CHUNKED, chunk("[")], forever: chunk("{},".repeat(20_000)) },
  "a long list of large things": {
    pieces: [CHUNKED, chunk("[")],
    forever: chunk(`{"Id":"1","Labels":{${members(2_000)}}},`),
  },
  "one thing of many members": {
    pieces: [CHUNKED, chunk('[{"Labels":{')],
    forever: chunk(`${members(4_000)},`),
  },
  "a text without end": { pieces: [CHUNKED, chunk('[{"Id":"')], forever: chunk("x".repeat(BLOCK)) },
  "a member nobody reads, without end": {
    pieces: [CHUNKED, chunk('{"Volumes":[{"Other":"')],
    forever: chunk("x".repeat(BLOCK)),
  },
  "blanks without end": { pieces: [CHUNKED], forever: chunk(" ".repeat(BLOCK)) },
  "lines without end": { pieces: [CHUNKED], forever: chunk("\n".repeat(BLOCK)) },
  "events without end": {
    pieces: [CHUNKED],
    forever: chunk('{"Action":"die","Actor":{"ID":"1"}}\n'.repeat(2_000)),
  },
  "log frames without end": {
    pieces: [CHUNKED],
    forever: chunk("\x01\0\0\0\0\0\0\x01x".repeat(8_000)),
  },
  "one byte in each chunk": { pieces: [CHUNKED], forever: chunk(" ").repeat(8_000) },
  "a byte now and then": { pieces: [CHUNKED], forever: chunk(" "), pauseMs: 50 },
  "silence": { pieces: [] },
  "silence after the head": { pieces: [CHUNKED] },
  "an end inside the answer": { pieces: [CHUNKED, chunk('[{"Id":')], ends: true },
  "an end before the answer": { pieces: [], ends: true },
  "a half list": { pieces: [whole("200 OK", '[{"Id":"1"},{"Id":"')] },
  "a page for people": { pieces: [whole("200 OK", "<html>hello</html>")] },
  "another place": {
    pieces: [
      head("301 Moved", "Location: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\n\r\n"),
    ],
  },
  "another protocol": {
    pieces: [head("101 Switching", "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n")],
    forever: "x".repeat(BLOCK),
  },
  "an error without end": {
    pieces: [head("500 Oh", "Transfer-Encoding: chunked\r\n\r\n"), chunk('{"message":"')],
    forever: chunk("x".repeat(BLOCK)),
  },
  "a header without end": { pieces: ["HTTP/1.1 200 OK\r\nX: "], forever: "x".repeat(BLOCK) },
  "headers without end": { pieces: ["HTTP/1.1 200 OK\r\n"], forever: "X: y\r\n".repeat(5_000) },
  "announcements without end": {
    pieces: [],
    forever: "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000),
  },
  "no HTTP": { pieces: ["SSH-2.0-OpenSSH_9.2p1\r\n"], ends: true },
  "two lengths": {
    pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n[]"],
    ends: true,
  },
  "a length without end": {
    pieces: [`HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n`],
    forever: " ".repeat(BLOCK),
  },
};

/** An engine that answers every call in one of the ways of {@link HOSTILE}. */
export interface HostileEngine {
  readonly socketPath: string;
  /** How it answers from now on. */
  answer: Hostility;
  /** Whether it is hostile when it is asked for its version, too. */
  isHostileAtOnce: boolean;
  /** Requests so far, by method and path. */
  readonly asked: string[];
  close(): Promise<void>;
}

const VERSION = whole("200 OK", '{"Version":"26.1","ApiVersion":"1.45"}');

/** Starts one on a Unix socket. */
export async function startHostileEngine(): Promise<HostileEngine> {
  const directory = await fs.mkdtemp(join(tmpdir(), "swt-hostile-"));
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const line = /^(?:GET|HEAD|POST|PUT|DELETE) \S+/.exec(bytes.toString("latin1"))?.[0];
      if (line === undefined) return;
      engine.asked.push(line);
      if (/^GET \/version$/.test(line) && !engine.isHostileAtOnce) socket.write(VERSION);
      else void send(socket, engine.answer);
    });
  });
  const engine: HostileEngine = {
    socketPath: join(directory, "engine.sock"),
    answer: { pieces: [], ends: true },
    isHostileAtOnce: false,
    asked: [],
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await fs.rm(directory, { recursive: true, force: true });
    },
  };
  await new Promise<void>((resolve) => server.listen(engine.socketPath, resolve));
  return engine;
}

async function send(socket: Socket, { pieces, forever, pauseMs, ends }: Hostility): Promise<void> {
  for (const piece of pieces) if (!socket.write(piece, "latin1")) await drained(socket);
  if (ends === true) return void socket.end();
  while (forever !== undefined && !socket.destroyed) {
    const isFull = !socket.write(forever, "latin1");
    if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    else if (isFull) await drained(socket);
  }
}

/** After a macrotask at least: it is in the process of who is attacked. */
async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      socket.off("drain", end).off("close", end);
      resolve();
    };
    socket.on("drain", end).on("close", end);
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
}
