import type { Operations, Power } from "../../api/mod.ts";
import { isStackwrightError } from "../../model/mod.ts";
import type { Ids } from "../../system/mod.ts";
import type { Answer } from "../envelope.ts";
import type { RequestHeaders } from "../http_request.ts";
import { refusalOf } from "../problem.ts";
import type { Exchange, Route } from "../route.ts";
import { RunningCalls } from "./running_calls.ts";
import { createToolServer, type ToolServerParts } from "./tool_server.ts";
import { createTools } from "./tools.ts";

const TOOL_PATH = "/mcp";

/** Ports of the route. */
export interface ToolRouteParts extends Omit<ToolServerParts, "tools" | "running"> {
  readonly operations: Operations;
  readonly ids: Ids;
}

/** Header with the session id, by which later messages of a client find its calls. */
const SESSION_HEADER = "mcp-session-id";

const PROTOCOL_HEADERS = [
  "accept",
  "content-type",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
];

/** The tool server: Streamable HTTP, stateless; only POST is there. */
export function toolRoute({ operations, ids, ...parts }: ToolRouteParts): Route {
  const running = new RunningCalls();
  const answerMessage = createToolServer({ ...parts, running, tools: createTools(operations) });
  return {
    methods: ["POST"],
    path: TOOL_PATH,
    access: "key",
    // Each tool checks the power that its call needs beyond reading.
    power: "read",
    async answer(exchange) {
      const { headers, call, powers, turn } = exchange;
      if (isForeign(headers)) return foreignOrigin();
      const read = await readMessage(exchange);
      if ("malformed" in read) return made(refused(-32700, `Parse error: ${read.malformed}`));
      const { body } = read;
      if (membersOf(body) > MOST_MEMBERS) {
        const what = `more than ${MOST_MEMBERS} members of messages, parameters and arguments`;
        return made(refused(-32600, `Invalid Request: ${what}`));
      }
      const session = sessionOf(headers, powers);
      const { method, params } = asMessage(body);
      if (method === "notifications/cancelled") running.cancel(session, params?.requestId);
      const request = new Request(`http://localhost${TOOL_PATH}`, {
        method: "POST",
        headers: protocolHeaders(headers),
      });
      const response = await answerMessage({ request, body, session, call, powers, turn });
      if (method === "initialize" && response.ok) response.headers.set(SESSION_HEADER, ids.next());
      return made(untilGone(response, call.signal));
    },
  };
}

/** Key of a client's calls, with its powers: a read-only key must not cancel others' calls. */
function sessionOf(headers: RequestHeaders, powers: ReadonlySet<Power>): string {
  const word = headers.get(SESSION_HEADER) ?? "";
  return word === "" ? "" : `${[...powers].sort().join()} ${word}`;
}

/** A host that no name server can lead elsewhere, with its port. */
const FIXED_HOST = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d+)?$/i;

/**
 * True when a web page of another host sends the request. Only browsers send `Origin`. A page of our own
 * host counts as ours only if the host is an address or `localhost`: any other name could be pointed
 * here after the page was loaded (DNS rebinding). The key is required in any case.
 */
function isForeign(headers: RequestHeaders): boolean {
  const origin = headers.get("origin");
  if (origin === null) return false;
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase() ?? "";
  return !FIXED_HOST.test(host) || host !== headers.get("host")?.toLowerCase();
}

function foreignOrigin(): Answer {
  const content = "pages of other hosts may not use the tool server";
  return { kind: "refusal", refusal: { status: 403, error: "foreign origin", content } };
}

/** The body as JSON, or what is wrong with it. Throws `payload_too_large` and `cancelled`. */
async function readMessage(
  { readJson }: Exchange,
): Promise<{ readonly body: unknown } | { readonly malformed: string }> {
  try {
    return { body: await readJson() };
  } catch (error) {
    if (!isStackwrightError(error, "bad_request")) throw error;
    return { malformed: refusalOf(error).content ?? error.message };
  }
}

/** A refusal of a whole body, in the protocol's own words. */
function refused(code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status: 400 });
}

interface LooseMessage {
  readonly method?: unknown;
  readonly params?: {
    readonly requestId?: unknown;
    readonly arguments?: unknown;
    readonly _meta?: unknown;
  };
}

/** Most members of objects in a body, each of which is checked; a hundred calls have fewer. */
const MOST_MEMBERS = 5000;

function membersOf(body: unknown): number {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.reduce<number>((sum, each) => {
    const { params } = asMessage(each);
    return [each, params, params?.arguments, params?._meta]
      .reduce<number>((count, member) => count + lengthOf(member), sum);
  }, 0);
}

/** Members of an object or list; none of a text, whose million characters would be keys. */
function lengthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function asMessage(body: unknown): LooseMessage {
  return typeof body === "object" && body !== null ? body : {};
}

function protocolHeaders(headers: RequestHeaders): Headers {
  const kept = new Headers();
  for (const name of PROTOCOL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

/** Ends an event stream when its client goes away; it would never end otherwise. */
function untilGone(response: Response, signal: AbortSignal): Response {
  const { body, status, headers } = response;
  if (body === null || !headers.get("content-type")?.startsWith("text/event-stream")) {
    return response;
  }
  return new Response(body.pipeThrough(new TransformStream(), { signal }), { status, headers });
}

function made(response: Response): Answer {
  return { kind: "made", status: response.status, response };
}
