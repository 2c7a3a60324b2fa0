import type { TransportRequest, TransportResponse } from "./transport_messages.ts";

interface SocketCall {
  readonly socketPath: string;
  /** Milliseconds until the head of the answer must arrive. */
  readonly answerMs: number;
  /** Whether the request may share a connection and be sent again; never for a change. */
  readonly isRepeatable: boolean;
  /** Makes the error for a failure. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Sends a request over a Unix socket by the runtime's own HTTP client, if it supports sockets:
 * Bun's costs a fifth of `node:http` there, and a deployment makes some thirty calls. Only for
 * answers that end by themselves, since that client limits the requests of the whole process.
 *
 * `undefined` without such a client, and after a failure of a request that may be repeated:
 * `node:http` then repeats it, and reports the reason. Throws the signal's reason, and the result
 * of `explain` for a late answer, or for the failure of any other request.
 */
export async function callBySocket(
  { method, path, headers, body }: TransportRequest,
  { socketPath, answerMs, isRepeatable, explain }: SocketCall,
  signal: AbortSignal,
): Promise<TransportResponse | undefined> {
  if (!("Bun" in globalThis)) return undefined;
  // An aborted signal sends no further event.
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
    // On a shared connection the runtime may resend a request by itself.
    keepalive: isRepeatable,
    // The client's own timeout, of minutes.
    timeout: false,
    // A proxy must not get requests for a local socket.
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

/** Whether no connection was made, so that the request was not sent. */
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
