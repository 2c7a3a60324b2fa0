import type { TransportRequest, TransportResponse } from "./transport_messages.ts";

interface SocketCall {
  readonly socketPath: string;
  /** Longest time until the head of the answer, in milliseconds. */
  readonly answerMs: number;
  /** Whether it may share a connection and be sent again: no change may. */
  readonly isRepeatable: boolean;
  /** The error for what came of it. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Sends a request over a Unix socket by the runtime's own HTTP client, where it has one that takes
 * sockets: Bun's costs a fifth of what `node:http` costs there, and a deployment makes some thirty
 * calls. Only for answers that end by themselves: that client has a bound on the requests of a whole
 * process.
 *
 * `undefined` where there is none, or it did not bring the head of an answer to what may be sent again:
 * then the ordinary way tells why. Throws the signal's reason, and what `explain` makes of an answer
 * that comes too late, or of none to anything else.
 */
export async function callBySocket(
  { method, path, headers, body }: TransportRequest,
  { socketPath, answerMs, isRepeatable, explain }: SocketCall,
  signal: AbortSignal,
): Promise<TransportResponse | undefined> {
  if (!("Bun" in globalThis)) return undefined;
  // One that is aborted already tells nobody any more.
  signal.throwIfAborted();
  const end = new AbortController();
  const onAbort = () => end.abort(signal.reason);
  const release = () => signal.removeEventListener("abort", onAbort);
  const late = Number.isFinite(answerMs)
    ? setTimeout(() => end.abort(new Error(`no answer within ${answerMs} ms`)), answerMs)
    : undefined;
  signal.addEventListener("abort", onAbort, { once: true });
  const options = {
    ...{ method, redirect: "manual", signal: end.signal, unix: socketPath },
    ...(body === undefined ? {} : { body }),
    // The runtime sends again by itself what goes by a connection that others used before.
    keepalive: isRepeatable,
    // It has a limit of its own, of minutes.
    timeout: false,
    // No proxy has any business with a socket of this machine.
    proxy: "",
  };
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
  } catch (error) {
    release();
    signal.throwIfAborted();
    if (end.signal.aborted) throw explain(end.signal.reason);
    if (isRepeatable || isUnsent(error)) return undefined;
    throw explain(error);
  } finally {
    clearTimeout(late);
  }
}

/** Whether no connection came about. */
function isUnsent(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "FailedToOpenSocket";
}

async function* bodyOf(
  { body }: Response,
  { release, explain }: Pick<SocketCall, "explain"> & { readonly release: () => void },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (error) {
    throw explain(error);
  } finally {
    release();
  }
}
