/** The part of a runtime's outgoing message that an answer needs. */
export interface Outgoing {
  /** Whether all bytes were handed to the system; some runtimes say so with a delay. */
  readonly writableFinished?: boolean;
  writeHead(status: number, headers: readonly string[]): unknown;
  write(chunk: Uint8Array, done: () => void): unknown;
  end(chunk: Uint8Array | undefined, done: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

interface SendOptions {
  /** Milliseconds within which the client must receive each piece. */
  readonly stallMs: number;
  /** Whether this is the last answer of its connection. */
  readonly last: boolean;
  /** Called with the size of an answer that is kept in memory until this client has it. */
  readonly onWhole?: (bytes: number) => void;
}

/** A response whose bytes several clients share; runtimes would copy them for each client. */
export class SharedResponse extends Response {
  readonly whole: Uint8Array<ArrayBuffer>;
  /** Whether the program keeps the bytes anyway, so that clients that read slowly add none. */
  readonly isKept: boolean;

  constructor(whole: Uint8Array<ArrayBuffer>, init: ResponseInit, { isKept }: { isKept: boolean }) {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
      controller.enqueue(whole);
      controller.close();
    };
    super(new ReadableStream({ pull }, { highWaterMark: 0 }), init);
    this.whole = whole;
    this.isKept = isKept;
  }
}

/** Bytes that are sent at once; even a slow client receives them within the time limit. */
const PIECE = 64 * 1024;

/**
 * Sends an answer: events as they come, anything else whole and with its length. Resolves when the
 * system has taken it; rejects when the client goes away, or reads nothing for too long.
 */
export async function sendResponse(
  response: Response,
  outgoing: Outgoing,
  options: SendOptions,
): Promise<void> {
  const { status } = response;
  if (isEvents(response)) {
    outgoing.writeHead(status, headersOf(response, options));
    for await (const chunk of response.body ?? []) await sendPieces(chunk, outgoing, options);
    return await within(options, outgoing, (done) => outgoing.end(undefined, done));
  }
  // Do not touch the body of a shared response: the runtime would make a stream of its bytes.
  const isShared = response instanceof SharedResponse;
  const whole = isShared ? response.whole : new Uint8Array(await response.arrayBuffer());
  if (!isShared || !response.isKept) options.onWhole?.(whole.length);
  if (whole.length === 0 && response.body === null) {
    outgoing.writeHead(status, headersOf(response, options));
    return await within(options, outgoing, (done) => outgoing.end(undefined, done));
  }
  const length = ["content-length", String(whole.length)];
  outgoing.writeHead(status, [...headersOf(response, options), ...length]);
  const begin = whole.subarray(0, -PIECE);
  await sendPieces(begin, outgoing, options);
  await within(options, outgoing, (done) => outgoing.end(whole.subarray(begin.length), done));
}

/** Whether a response is a stream of events, which ends with what it tells of. */
export function isEvents({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function headersOf({ headers }: Response, { last }: SendOptions): string[] {
  const names = [...headers].filter(([name]) => name !== "content-length").flat();
  return last ? [...names, "connection", "close"] : names;
}

async function sendPieces(bytes: Uint8Array, outgoing: Outgoing, options: SendOptions) {
  for (let at = 0; at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE);
    await within(options, outgoing, (done) => outgoing.write(piece, done));
  }
}

function within(
  { stallMs }: SendOptions,
  outgoing: Outgoing,
  start: (done: () => void) => void,
): Promise<void> | undefined {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let taken = false;
  start(() => {
    taken = true;
    resolve();
  });
  // Most answers are taken at once; a timer for each would cost more than making the answer.
  if (taken || outgoing.writableFinished === true) return undefined;
  // The close event always comes; creating an error for a sent answer would be costly.
  const closed = () => taken || reject(new Error("the client went away"));
  const late = setTimeout(() => reject(new Error("the client takes nothing in")), stallMs);
  outgoing.once("close", closed);
  return promise.finally(() => {
    clearTimeout(late);
    outgoing.off("close", closed);
  });
}
