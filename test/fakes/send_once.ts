import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";

/** What was answered, its body read as JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Posts by a connection of its own. Those that `fetch` keeps in reserve are cut when they stay silent
 * for some seconds, and may be in the very moment in which they are used.
 */
export async function sendOnce(
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Promise<JsonAnswer> {
  const sent = request(url, { method: "POST", headers, agent: false });
  sent.end(body);
  const [answer] = await once(sent, "response") as [IncomingMessage];
  const read = await json(answer) as Record<string, unknown>;
  return { status: answer.statusCode ?? 0, body: read };
}
