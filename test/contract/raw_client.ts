/** A client that sends whatever bytes a test wants, as slowly as it wants. */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";

/** Where to connect. */
export interface RawPlace {
  readonly port: number;
  readonly tls?: boolean;
}

/** One connection. */
export interface RawClient {
  /** What came back so far. */
  readonly text: string;
  send(bytes: string | Uint8Array): void;
  /** Sends these bytes again and again, until the connection is closed. */
  drip(bytes: string, everyMs: number): void;
  /** Ends our direction. */
  end(): void;
  destroy(): void;
  /** Resolves with all that came back when the other side closed the connection. */
  readonly closed: Promise<string>;
  /** Resolves as soon as what came back matches. Rejects when the connection closes before. */
  until(pattern: RegExp): Promise<string>;
}

/** Connects; resolves when bytes can be sent. */
export async function rawClient({ port, tls = false }: RawPlace): Promise<RawClient> {
  const host = "127.0.0.1";
  const socket: Socket = tls
    ? connectSecure({ host, port, rejectUnauthorized: false })
    : connectPlain({ host, port });
  const closed = Promise.withResolvers<string>();
  const waiting: { pattern: RegExp; resolve(text: string): void; reject(error: Error): void }[] =
    [];
  let text = "";
  let drip: ReturnType<typeof setInterval> | undefined;
  const tell = () => {
    for (const { pattern, resolve } of waiting) if (pattern.test(text)) resolve(text);
  };
  socket.on("data", (chunk: Uint8Array) => {
    text += new TextDecoder().decode(chunk);
    tell();
  });
  // A reset is one way of being closed.
  socket.on("error", () => {});
  socket.on("close", () => {
    clearInterval(drip);
    closed.resolve(text);
    for (const { reject } of waiting) reject(new Error(`closed after: ${text}`));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once(tls ? "secureConnect" : "connect", () => resolve());
    socket.once("close", () => reject(new Error("closed before it was connected")));
  });
  return {
    get text() {
      return text;
    },
    send: (bytes) => void socket.write(bytes),
    drip(bytes, everyMs) {
      drip = setInterval(() => socket.writable && socket.write(bytes), everyMs);
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    closed: closed.promise,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        waiting.push({ pattern, resolve, reject });
        tell();
      }),
  };
}
