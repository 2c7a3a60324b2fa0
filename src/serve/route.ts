import type * as z from "zod";
import type { Call, Operation, OperationFacts, Power } from "../api/mod.ts";
import { isStackwrightError, requestError, stackKey } from "../model/mod.ts";
import { stackAsOwner } from "../system/mod.ts";
import type { Answer } from "./envelope.ts";
import type { RequestHeaders } from "./http_request.ts";
import { refusalOf } from "./problem.ts";
import { type QueryReader, requireKnownNames } from "./query.ts";

/** One request to a route, and the means to answer it. */
export interface Exchange {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly call: Call;
  /** Powers of the request's key; empty without one. */
  readonly powers: ReadonlySet<Power>;
  /** Turn to wait for before each operation, when one request contains several. */
  readonly turn: () => Promise<void> | undefined;
  /** Reads the body as JSON, once; an empty one as `empty`. Throws what reading a body throws. */
  readonly readJson: (empty?: unknown) => Promise<unknown>;
  readonly headers: RequestHeaders;
  /** Reads the raw body; `error` is the text of a refusal. Throws like `readJson`. */
  readonly readBytes: (error: string) => Promise<Uint8Array>;
}

type Method = "GET" | "HEAD" | "POST" | "DELETE";

/**
 * Callers that may use a route. `key` routes exist only with an API secret and require it in every
 * request; `webhook` routes exist only with a webhook secret and check it themselves.
 */
type Access = "public" | "key" | "webhook";

/** One method and path over an operation. */
export interface Route {
  readonly methods: readonly Method[];
  readonly path: string;
  readonly access: Access;
  /** Power that the key must have, on a `key` route. */
  readonly power: Power;
  answer(exchange: Exchange): Promise<Answer>;
}

/** Facts for documents about a route over an operation, beside the operation itself. */
export interface RouteFacts extends Pick<Route, "methods" | "path" | "access"> {
  readonly operation: OperationFacts<unknown>;
  /** From a variable of the path to the field of the operation's input. */
  readonly params: Readonly<Record<string, string>>;
  /** How each query parameter is read; the names are fields of the operation's input. */
  readonly query: Readonly<Record<string, QueryReader>>;
  /** Field of the operation's input that is the body. */
  readonly body?: string;
  /** Fields of the operation's input that are members of the body, an object; it may be empty. */
  readonly bodyFields?: readonly string[];
  /** Statuses of answers that are no refusals, with what they mean. */
  readonly success: Readonly<Record<number, string>>;
  /** The content of a success, where it is not the output. */
  readonly content?: z.ZodType;
  /** Whether the body of a success is the output itself, without envelope. */
  readonly plain?: boolean;
  /** Statuses of refusals beyond those that the operation's errors have. */
  readonly refusals?: readonly number[];
}

/** A route with its facts for documents. */
export interface OperationRoute extends Route, RouteFacts {}

/** Methods, with a stroke between them, and the path of a route: `GET|HEAD /v1/health`. */
type RouteName = `${Method}${"" | `|${Method}`} ${string}`;

/** Facts that make a route over an operation, beside its name. */
export interface RouteTable<Output>
  extends Partial<Omit<RouteFacts, "methods" | "path" | "operation">> {
  /** Makes the answer; by default status 200 with the output as content. */
  readonly answer?: (output: Output) => Answer;
  /** Checks the variables of the path before anything else. Throws `bad_request`. */
  readonly checkParams?: (params: Readonly<Record<string, string>>) => void;
  /** Makes the error text of a failure on our side from the input. */
  readonly failure?: (input: Readonly<Record<string, unknown>>) => string;
}

/**
 * Makes a route: reads the input from path, query and body, calls the operation and answers. An
 * operation that takes a container context gets it from the query, and any answer names it in a header.
 */
export function operationRoute<Output>(
  name: RouteName,
  operation: Operation<Output>,
  table: RouteTable<Output>,
): OperationRoute {
  const { answer = content, failure, checkParams } = table;
  const [methods = "", path = ""] = name.split(" ");
  const facts: RouteFacts = {
    methods: methods.split("|") as Method[],
    path,
    operation,
    access: "key",
    params: {},
    query: {},
    success: { 200: "Done." },
    ...table,
  };
  return {
    ...facts,
    power: operation.power,
    async answer(exchange) {
      const context = facts.query["context"] !== undefined
        ? readContext(exchange.query)
        : undefined;
      const named = (given: Answer): Answer =>
        context === undefined ? given : { ...given, context };
      let input: Record<string, unknown> = {};
      try {
        checkParams?.(exchange.params);
        input = await readInput(facts, exchange);
        const about = aboutWhom(operation, input);
        const answered = answer(await operation.call(input, exchange.call));
        return named({ ...answered, ...(about === undefined ? {} : { about }) });
      } catch (error) {
        if (context === undefined && failure === undefined) throw error;
        const about = stackIn(input);
        const refusal = called(error, failure?.(input));
        const told = about === undefined ? {} : { about };
        return named({ kind: "refusal", refusal, thrown: error, ...told });
      }
    },
  };
}

/** The stack whose secrets are masked in the answer of an operation: see {@link Answer}. */
export function aboutWhom(
  { id }: Pick<OperationFacts<unknown>, "id">,
  input: Readonly<Record<string, unknown>>,
): string | undefined {
  return KEPT_MASKED.has(id) ? undefined : stackIn(input);
}

/**
 * Operations that answer from stored records, which were masked when written, and with their own words, which
 * must stay what they are; and with names of projects, which are not secret. All others answer with texts
 * that are made on request.
 */
const KEPT_MASKED: ReadonlySet<string> = new Set([
  "adoptDeployment",
  "applyDeployment",
  "applySource",
  "forgetDeployment",
  "getDeployment",
  "getRun",
  "getSyncWindows",
  "holdDeployment",
  "listDecisions",
  "listDeployments",
  "listProjects",
  "listReleases",
  "listRuns",
  "resumeDeployment",
  "retryDeployment",
  "rollbackDeployment",
  "runPolls",
  "unpinDeployment",
]);

/** The stack that an input names, as an owner of secrets. */
export function stackIn(input: Readonly<Record<string, unknown>>): string | undefined {
  const { context = "" } = input;
  const name = input["name"] ?? input["stack_name"] ?? input["project_name"];
  if (typeof name !== "string" || typeof context !== "string") return undefined;
  return stackAsOwner(stackKey(context, name));
}

function content(output: unknown): Answer {
  return { kind: "content", status: 200, content: output };
}

/** The context as the answer's header shows it; it may not exist. */
function readContext(query: URLSearchParams): string {
  return stackKey(query.get("context") ?? "", "").context;
}

function requireOneContext({ query }: Exchange): void {
  if (query.getAll("context").length <= 1) return;
  const details = "'context' parameter must be specified at most once";
  throw requestError("invalid parameter: context", details);
}

async function readInput(
  { methods, params, query, body, bodyFields }: RouteFacts,
  exchange: Exchange,
): Promise<Record<string, unknown>> {
  if (!methods.includes("GET")) requireKnownNames(exchange.query, Object.keys(query));
  if (query["context"] !== undefined) requireOneContext(exchange);
  const entries = [
    ...Object.entries(params).map(([name, field]) => [field, exchange.params[name]]),
    ...Object.entries(query).map(([name, read]) => [name, read(exchange.query, name)]),
  ].filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(entries),
    ...(body === undefined ? {} : { [body]: await exchange.readJson() }),
    ...(bodyFields === undefined ? {} : await readMembers(bodyFields, exchange)),
  };
}

/** The members of a body; refuses names that belong to the path or the query. */
async function readMembers(fields: readonly string[], { readJson }: Exchange) {
  const body = await readJson({});
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw requestError("invalid input", "the body is no JSON object");
  }
  if (Object.keys(body).every((name) => fields.includes(name))) {
    return body as Record<string, unknown>;
  }
  const detail = `the body has a member that is not known; it may have ${fields.join(", ")}`;
  throw requestError("invalid input", detail);
}

/** The refusal of a failure on our side: `failure` as the error, what is told of the thrown one as the detail. */
function called(error: unknown, failure: string | undefined) {
  const refusal = refusalOf(error);
  if (failure === undefined || refusal.status !== 500) return refusal;
  const known = isStackwrightError(error) && error.code !== "internal";
  return { status: 500, error: failure, ...(known ? { content: error.told } : {}) };
}
