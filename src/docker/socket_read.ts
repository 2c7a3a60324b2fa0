import type { TransportRequest, TransportResponse } from "./transport_messages.ts";

/** Parts of a read over a socket, besides the request. */
export interface SocketRead {
  readonly socketPath: string;
  /** Longest time until the head of the answer, in milliseconds. */
  readonly answerMs: number;
  /** The error for what came of it. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Sends a read over a Unix socket by the runtime's own HTTP client, where it has one that takes sockets:
 * Bun's costs a fifth of what `node:http` costs there, and a deployment makes some twenty reads. Only
 * for answers that end by themselves: that client has a bound on the requests of a whole process.
 *
 * `undefined` where there is none, or it did not bring the head of an answer: then the ordinary way
 * tells why. Throws the signal's reason, and what `explain` makes of an answer that comes too late.
 */
export async function readBySocket(
  { method, path, headers }: TransportRequest,
  { socketPath, answerMs, explain }: SocketRead,
  signal: AbortSignal,
): Promise<TransportResponse | undefined> {
  if (!("Bun" in globalThis)) return undefined;
  const end = new AbortController();
  const onAbort = () => end.abort(signal.reason);
  const release = () => signal.removeEventListener("abort", onAbort);
  const late = setTimeout(() => end.abort(new Error(`no answer within ${answerMs} ms`)), answerMs);
  signal.addEventListener("abort", onAbort, { once: true });
  // No proxy has any business with a socket of this machine.
  const options = { method, redirect: "manual", signal: end.signal, unix: socketPath, proxy: "" };
  try {
    const response = await fetch(`http://localhost${path}`, {
      ...options as RequestInit,
      headers: { ...headers },
    });
    const discard = () => {
      release();
      end.abort();
    };
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: bodyOf(response, { release, explain }),
      discard,
    };
  } catch {
    release();
    signal.throwIfAborted();
    if (end.signal.aborted) throw explain(end.signal.reason);
    return undefined;
  } finally {
    clearTimeout(late);
  }
}

async function* bodyOf(
  { body }: Response,
  { release, explain }: Pick<SocketRead, "explain"> & { readonly release: () => void },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (error) {
    throw explain(error);
  } finally {
    release();
  }
}
