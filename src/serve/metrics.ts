import type { Clock } from "../system/mod.ts";
import type { Handler } from "./handler.ts";
import { SharedResponse } from "./wire_response.ts";

/** The port that the metrics come from. */
interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * Makes the handler of the metrics' own server: only `GET /metrics`, without a key. One text is made at
 * a time, shared by all who wait for it; there are no rests in between once the signal aborts.
 */
export function createMetricsHandler(
  metrics: MetricsText,
  clock: Clock,
  signal: AbortSignal,
): Handler {
  const make = async () => new TextEncoder().encode(await metrics.text());
  const look = inTurn(make, clock, signal);
  return async (request) => {
    if (new URL(request.url).pathname !== "/metrics") return plain(404, "not found; try /metrics");
    if (request.method !== "GET" && request.method !== "HEAD") {
      return plain(405, "requires method: GET, HEAD", { Allow: "GET, HEAD" });
    }
    const headers = { "Content-Type": metrics.contentType };
    if (request.method === "HEAD") return new Response(null, { headers });
    return new SharedResponse(await look(), { headers }, { isKept: false });
  };
}

/** Rest after a text, as a multiple of the time that it took to make, and the longest in milliseconds. */
const REST = { times: 9, longestMs: 2_000 } as const;

/**
 * Makes one value at a time. Callers that come while one is made share the next, so that nobody gets a
 * value older than the request. A rest between two values leaves the processor to other work.
 */
function inTurn<T>(make: () => Promise<T>, clock: Clock, signal: AbortSignal): () => Promise<T> {
  const rest = async (milliseconds: number) => {
    const pause = Math.min(REST.times * milliseconds, REST.longestMs);
    if (pause > 0) await clock.sleep(pause, signal).catch(() => {});
  };
  let next: Promise<T> | undefined;
  let before: Promise<void> = Promise.resolve();
  const turn = async () => {
    await before;
    next = undefined;
    const began = clock.now().getTime();
    const made = make();
    before = made.then(() => {}, () => {}).then(() => rest(clock.now().getTime() - began));
    return await made;
  };
  return () => next ??= turn();
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", ...headers },
  });
}
