/** As much of a runtime's outgoing message as an answer needs. */
export interface Outgoing {
  /** Whether the system has taken all of it; not every runtime says so at once. */
  readonly writableFinished?: boolean;
  writeHead(status: number, headers: readonly string[]): unknown;
  write(chunk: Uint8Array, done: () => void): unknown;
  end(chunk: Uint8Array | undefined, done: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

interface SendOptions {
  /** Milliseconds within which the client must take in each piece. */
  readonly stallMs: number;
  /** Whether this is the last answer of its connection. */
  readonly last: boolean;
  /** Called with the bytes of an answer that is kept, for this client alone, until it was taken in. */
  readonly onWhole?: (bytes: number) => void;
}

/** A response whose bytes are there already, for all who ask: runtimes make a copy for each of them. */
export class SharedResponse extends Response {
  readonly whole: Uint8Array<ArrayBuffer>;

  constructor(whole: Uint8Array<ArrayBuffer>, init: ResponseInit) {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
      controller.enqueue(whole);
      controller.close();
    };
    super(new ReadableStream({ pull }, { highWaterMark: 0 }), init);
    this.whole = whole;
  }
}

/** Bytes a client is given at once; one that is only slow manages to take them in. */
const PIECE = 64 * 1024;

/**
 * Sends an answer: events as they come, anything else whole and with its length. Resolves when the
 * system has taken it; rejects when the client goes away, or takes nothing in for too long.
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
  // Its body is not asked for before: the runtime would make a stream of what is there already.
  const isShared = response instanceof SharedResponse;
  const whole = isShared ? response.whole : new Uint8Array(await response.arrayBuffer());
  if (!isShared) options.onWhole?.(whole.length);
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

function isEvents({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function headersOf({ headers }: Response, { last }: SendOptions): string[] {
  const names = [...headers].filter(([name]) => name !== "content-length").flat();
  return last ? [...names, "connection", "close"] : names;
}

async function sendPieces(
  bytes: Uint8Array,
  outgoing: Outgoing,
  options: SendOptions,
): Promise<void> {
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
  // Most answers are taken at once, and watching over the others costs more than making them.
  if (taken || outgoing.writableFinished === true) return undefined;
  // It is closed in the end in any case, and an error costs more than all the rest.
  const closed = () => taken || reject(new Error("the client went away"));
  const late = setTimeout(() => reject(new Error("the client takes nothing in")), stallMs);
  outgoing.once("close", closed);
  return promise.finally(() => {
    clearTimeout(late);
    outgoing.off("close", closed);
  });
}
