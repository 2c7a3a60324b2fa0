import { messageOf, StackwrightError } from "../model/mod.ts";

/** One request with its whole answer, both small. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Longest time for everything, in milliseconds. */
  readonly timeoutMs: number;
  /** Largest body that is read, in bytes. */
  readonly mostBytes: number;
}

/** What a server answered; any status is an answer, a redirect too. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends one request and follows no redirect: a secret in its headers is meant for that server alone.
 *
 * Throws `timeout` when it took too long, `command_failed` when the server could not be reached or
 * answered more than `mostBytes`, and the signal's reason when it was aborted.
 */
export type HttpExchange = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

/** The real one. Proxies are those of the process's environment (`HTTPS_PROXY`, `NO_PROXY`). */
export const systemHttpExchange: HttpExchange = async (request, signal) => {
  const { method, url, headers, body, timeoutMs, mostBytes } = request;
  const limit = AbortSignal.timeout(timeoutMs);
  const place = new URL(url).host;
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers },
      redirect: "manual",
      signal: AbortSignal.any([signal, limit]),
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, body: await textOf(response, mostBytes, place) };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof StackwrightError) throw cause;
    if (limit.aborted) {
      const message = `${place} did not answer within ${timeoutMs} ms`;
      throw new StackwrightError("timeout", message, { cause });
    }
    const message = `${place} could not be asked: ${messageOf(cause)}`;
    throw new StackwrightError("command_failed", message, { cause });
  }
};

async function textOf(response: Response, most: number, place: string): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > most) {
      throw new StackwrightError("command_failed", `${place} answered more than ${most} bytes`);
    }
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return new TextDecoder().decode(whole);
}
