import type { Handler } from "./handler.ts";

/** The port that the metrics come from. */
export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * Makes the handler of the metrics' own server: `GET /metrics`, without a key, and
 * nothing else.
 */
export function createMetricsHandler(metrics: MetricsText): Handler {
  return async (request) => {
    if (new URL(request.url).pathname !== "/metrics") return plain(404, "not found; try /metrics");
    if (request.method !== "GET" && request.method !== "HEAD") {
      return plain(405, "requires method: GET, HEAD", { Allow: "GET, HEAD" });
    }
    const body = request.method === "HEAD" ? null : await metrics.text();
    return new Response(body, { headers: { "Content-Type": metrics.contentType } });
  };
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", ...headers },
  });
}
