import type { Call, Power } from "../api/mod.ts";
import { errors, isStackwrightError, messageOf } from "../model/mod.ts";
import { type Log, stackFields } from "../system/mod.ts";
import { type ApiKeys, type Authenticate, createAuthenticate } from "./authenticate.ts";
import { type BodyLimits, readBytes, readJson } from "./body.ts";
import { BodyBudget } from "./body_budget.ts";
import { clientAddress, type TrustedProxies } from "./client_address.ts";
import { type Answer, toResponse } from "./envelope.ts";
import { documentRoutes, openApiDocumentsOf } from "./documents.ts";
import type { HttpRequest } from "./http_request.ts";
import { toolRoute, type ToolRouteParts } from "./mcp/tool_route.ts";
import type { ToolParts } from "./mcp/tool_server.ts";
import { type Refusal, refusalOf } from "./problem.ts";
import { restRoutes } from "./rest.ts";
import type { Route } from "./route.ts";
import { createRouter, type Router } from "./router.ts";
import { Turns } from "./turns.ts";
import { type ReceiveWebhooks, webhookRoutes } from "./webhooks.ts";

interface Peer {
  /** Network address of the other end of the connection. */
  readonly remote: string;
}

/** Answers requests; never rejects. */
export type Handler = (request: HttpRequest, peer: Peer) => Promise<Response>;

/** Least budget of unsigned bodies; eight times MAX_PAYLOAD_SIZE when that is more. */
const UNSIGNED_BYTES = 32 * 1024 * 1024;

interface HandlerParts extends Omit<ToolRouteParts, keyof ToolParts> {
  /** Without any key the routes under `/v1/api` do not exist. */
  readonly apiKeys: ApiKeys;
  /** When absent, the routes of webhooks do not exist. */
  readonly webhooks?: ReceiveWebhooks;
  /** When present, the OpenAPI documents of this version and their pages are served. */
  readonly openApi?: { readonly version: string };
  /** When present, and with a key, the tool server is served. */
  readonly mcp?: ToolParts;
  /** Proxies whose header with the client's address is believed; none when absent. */
  readonly proxies?: TrustedProxies;
  /** Most bytes of a request body. */
  readonly maxPayload: number;
  /** Most bytes of all half-sent unsigned bodies together; 32 MiB or more by default. */
  readonly unsignedBytes?: number;
}

/** Makes the handler of the main server. It needs no socket. */
export function createHandler(parts: HandlerParts): Handler {
  const { operations, apiKeys, openApi, webhooks } = parts;
  const authenticate = createAuthenticate(apiKeys);
  const hasApi = [apiKeys.full, apiKeys.read].some((key) => key !== undefined && key !== "");
  const enabled: Route[] = [
    ...restRoutes(operations).filter(({ access }) => access === "public" || hasApi),
    ...parts.mcp === undefined || !hasApi ? [] : [toolRoute({ ...parts, ...parts.mcp })],
    ...webhooks === undefined ? [] : webhookRoutes(webhooks),
    ...openApi === undefined ? [] : documentRoutes(openApiDocumentsOf(operations, openApi.version)),
  ];
  const router = createRouter(
    enabled.flatMap((route) =>
      route.methods.map((method) => ({ method, path: route.path, value: route }))
    ),
  );
  const most = parts.unsignedBytes ?? Math.max(UNSIGNED_BYTES, 8 * parts.maxPayload);
  const { maxPayload, clock } = parts;
  const unsigned = { maxPayload, clock, budget: new BodyBudget(most) };
  const readers = new Turns({ most: 1, rests: true });
  const equipment = { parts, router, authenticate, unsigned, readers };
  return (request, peer) => handle(request, peer, equipment);
}

interface Equipment {
  readonly parts: HandlerParts;
  readonly router: Router<Route>;
  readonly authenticate: Authenticate;
  /** Limits for bodies that are read before their sender is authenticated. */
  readonly unsigned: BodyLimits;
  /** Turns of requests with a read-only key, so that costly reads do not delay other work. */
  readonly readers: Turns;
}

async function handle(request: HttpRequest, peer: Peer, equipment: Equipment): Promise<Response> {
  const { ids, clock, redactor } = equipment.parts;
  const requestId = ids.next();
  const log = equipment.parts.log.with({ request_id: requestId });
  const began = clock.now().getTime();
  const { method } = request;
  const answer = await answerSafely({ request, peer, log }, equipment);
  logFailure(answer, request, log);
  const response = await toResponse(answer, { method, requestId, redactor });
  log.debug("request answered", () => ({
    method,
    path: pathOf(request.url),
    status: response.status,
    client: clientOf(request, peer, equipment.parts),
    elapsed_ms: clock.now().getTime() - began,
  }));
  return response;
}

/** One request that is being answered. */
interface Turn {
  readonly request: HttpRequest;
  readonly peer: Peer;
  readonly log: Log;
}

async function answerSafely(turn: Turn, equipment: Equipment): Promise<Answer> {
  try {
    return await answerTo(turn, equipment);
  } catch (error) {
    return { kind: "refusal", refusal: refusalOf(error), thrown: error };
  }
}

/**
 * Logs a failure on our side, except during a shutdown and after cancellation. A time that the client
 * has set, or that an engine took, is no fault in a place that a trace would show.
 */
export function logFailure(answer: Answer, request: Pick<HttpRequest, "signal">, log: Log): void {
  if (answer.kind !== "refusal" || answer.thrown === undefined) return;
  const { refusal: { status }, thrown } = answer;
  if (status < 500 || status === 503) return;
  if (request.signal.aborted && !isStackwrightError(thrown)) {
    log.info("the client went away before its answer");
    return;
  }
  const about = stackFields(answer.about);
  if (isStackwrightError(thrown, "timeout")) {
    log.warning(`a request was not done in time: ${messageOf(thrown)}`, about);
    return;
  }
  const trace = thrown instanceof Error ? thrown.stack : undefined;
  log.error(`request failed: ${messageOf(thrown)}`, {
    error: thrown,
    trace,
    ...about,
  });
}

/** Checks in this order: path, method, key, then the input of the route. */
async function answerTo(
  { request, peer, log }: Turn,
  { parts, router, authenticate, unsigned, readers }: Equipment,
): Promise<Answer> {
  const match = router.match(request.method, pathOf(request.url));
  if (match.kind === "not_found") return refuse({ status: 404, error: "not found" });
  if (match.kind === "wrong_method") {
    const content = `requires method: ${match.allow.join(", ")}`;
    const refusal = { status: 405, error: "invalid http method", content };
    return { kind: "refusal", refusal, allow: match.allow };
  }
  let powers: ReadonlySet<Power> = new Set();
  if (match.value.access === "key") {
    powers = authenticate(request);
    if (powers.size === 0) return refuse(NO_KEY);
    if (!powers.has(match.value.power)) return refuse(tooLittlePower(match.value.power));
  }
  const turn = () =>
    powers.has("act") ? undefined : readers.take()?.then(() => stillThere(request));
  if (match.value.access === "key") await turn();
  return await match.value.answer({
    turn,
    params: match.params,
    query: queryOf(request.url),
    powers,
    call: callOf(request, log, () => clientOf(request, peer, parts)),
    readJson: (empty) => readJson(request, parts, empty),
    headers: request.headers,
    readBytes: (error) => readBytes(request, unsigned, error),
  });
}

/** Throws `cancelled` for a client that went away while it waited: its work would delay the others. */
function stillThere({ signal }: HttpRequest): void {
  if (signal.aborted) throw errors.cancelled("the client went away");
}

/** Makes signal and client lazily: creating them costs, and few operations use them. */
function callOf(request: HttpRequest, log: Log, client: () => string): Call {
  return {
    get signal() {
      return request.signal;
    },
    log,
    get client() {
      return client();
    },
  };
}

function clientOf(request: HttpRequest, { remote }: Peer, { proxies }: HandlerParts): string {
  return proxies === undefined ? remote : clientAddress(remote, request.headers, proxies);
}

/** The same refusal for a missing and for a wrong key. */
const NO_KEY: Refusal = {
  status: 401,
  error: "invalid api key",
  content: "the header x-api-key has to hold the API_SECRET, or to look the API_READ_SECRET",
};

function tooLittlePower(power: Power): Refusal {
  const content =
    `this needs a key with the power to ${power}: API_READ_SECRET may only read, API_SECRET may do all`;
  return { status: 403, error: "the api key may not do this", content };
}

function refuse(refusal: Refusal): Answer {
  return { kind: "refusal", refusal };
}

/** The path as it was sent, still encoded. Cheaper than a URL object, and it cannot throw. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? "";
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? "");
}
