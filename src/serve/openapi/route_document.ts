import * as z from "zod";
import { CONTEXT_HEADER } from "../envelope.ts";
import { statusOf } from "../problem.ts";
import type { RouteFacts } from "../route.ts";
import type { DocumentedOperation } from "./document.ts";
import type { JsonSchema, SchemaBook } from "./schemas.ts";

/** The form of a refusal on every route but health. */
export const errorResponse = z.strictObject({
  error: z.string().describe("Short and stable."),
  content: z.string().optional().describe("The detail, when there is one."),
  job_id: z.string().optional().describe("The run this is about, when there is one."),
});

/** An operation object made of a route; schemas with a name go to the book. */
export function documentedRoute(route: RouteFacts, book: SchemaBook): DocumentedOperation {
  const { operation, path, methods, access } = route;
  const { fields, required } = book.fields(operation.input, "input");
  const parameters = [
    ...Object.entries(route.params).map(([name, field]) =>
      parameter(name, "path", { schema: fields[field] ?? {}, required: true })
    ),
    ...Object.keys(route.query).map((name) =>
      parameter(name, "query", { schema: fields[name] ?? {}, required: required.includes(name) })
    ),
  ];
  return {
    path,
    method: methodOf(methods),
    tag: operation.tag,
    operation: {
      operationId: operation.id,
      summary: operation.summary,
      security: access === "key" ? [{ apiKey: [] }] : [],
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(route.body === undefined ? {} : {
        requestBody: { required: true, content: json(fields[route.body] ?? {}) },
      }),
      ...(route.bodyFields === undefined ? {} : {
        requestBody: membersBody(route.bodyFields, fields, required),
      }),
      responses: responses(route, book),
    },
  };
}

/** The first method: HEAD, which follows GET, is not documented. */
function methodOf([first = "GET"]: RouteFacts["methods"]): DocumentedOperation["method"] {
  return first.toLowerCase() as DocumentedOperation["method"];
}

function membersBody(
  names: readonly string[],
  fields: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  const needed = names.filter((name) => required.includes(name));
  const content = json({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, fields[name] ?? {}])),
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
  });
  return { required: needed.length > 0, content };
}

function parameter(
  name: string,
  place: "path" | "query",
  field: { readonly schema: JsonSchema; readonly required: boolean },
): JsonSchema {
  const { description, ...schema } = field.schema;
  return {
    name,
    in: place,
    ...(field.required ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

function responses(route: RouteFacts, book: SchemaBook): JsonSchema {
  const answers = Object.entries(route.success).map(([status, description]) => [
    status,
    { description, ...headersOf(route), content: json(successSchema(route, book)) },
  ]);
  const refused = [...refusals(route)].filter((status) => route.success[status] === undefined);
  const error = { content: json(book.of(errorResponse, "output")) };
  return Object.fromEntries([
    ...answers,
    ...refused.sort().map((status) => [
      String(status),
      { description: REFUSALS[status] ?? "", ...error },
    ]),
  ]);
}

function successSchema({ operation, content, plain }: RouteFacts, book: SchemaBook) {
  const output = book.of(content ?? operation.output, "output");
  if (plain === true) return output;
  return {
    type: "object",
    properties: {
      content: output,
      job_id: { type: "string", description: "The run this is about, else the request." },
    },
    required: ["content", "job_id"],
    additionalProperties: false,
  };
}

function headersOf({ query }: RouteFacts): JsonSchema {
  if (query["context"] === undefined) return {};
  const description = "The container context that was selected.";
  return { headers: { [CONTEXT_HEADER]: { description, schema: { type: "string" } } } };
}

/** Statuses of an operation's errors and of refusals before it; 405 is the path's. */
function refusals(route: RouteFacts): ReadonlySet<number> {
  if (route.plain === true) return new Set();
  return new Set([
    ...route.operation.errors.map(statusOf),
    ...(route.access === "public" ? [] : [401, 404]),
    ...(route.access === "key" && route.operation.power !== "read" ? [403] : []),
    ...(route.body === undefined && route.bodyFields === undefined ? [] : [413]),
    ...(route.refusals ?? []),
    500,
  ]);
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: "The request is wrong; `content` says where.",
  401: "The key is missing or wrong.",
  403: "Not allowed; the key of API_READ_SECRET may only read.",
  404: "There is no such thing; without API_SECRET no API, without WEBHOOK_SECRET no webhooks.",
  409:
    "It is in a state that does not allow this; `error` says all of it: which one, and what to do.",
  413: "The body is larger than MAX_PAYLOAD_SIZE.",
  500: "It failed; `content` says why.",
  503:
    "The service is shutting down, the request was cancelled, or (with `Retry-After`) too many " +
    "webhooks of a repository wait.",
};

function json(schema: JsonSchema): JsonSchema {
  return { "application/json": { schema } };
}
