import type { RouteFacts } from "../route.ts";
import { WEBHOOK_SENDERS, type WebhookSenderFacts } from "../webhook_facts.ts";
import { type DocumentedOperation, type OpenApiDocument, openApiDocument } from "./document.ts";
import { documentedRoute, errorResponse } from "./route_document.ts";
import { type JsonSchema, SchemaBook } from "./schemas.ts";

/** The OpenAPI document of the webhooks, made from their routes and from who may send to them. */
export function webhookDocument(routes: readonly RouteFacts[], version: string): OpenApiDocument {
  const book = new SchemaBook();
  book.name({ ErrorResponse: errorResponse });
  return openApiDocument({
    title: "Stackwright webhooks",
    description: "Where Git hosts and registries announce what was pushed.",
    version,
    seeAlso: { description: "The REST API.", url: "/openapi/rest.json" },
    securitySchemes: Object.fromEntries(
      WEBHOOK_SENDERS.map((each) => [nameOf(each), scheme(each)]),
    ),
    operations: routes.map((route) => received(documentedRoute(route, book), route)),
    book,
  });
}

/** Completes a webhook route: a unique operation id, the proofs of all senders, and the payload. */
function received(
  { operation, ...rest }: DocumentedOperation,
  { params }: RouteFacts,
): DocumentedOperation {
  const { parameters = [] } = operation as { readonly parameters?: readonly JsonSchema[] };
  const named = Object.keys(params).length > 0;
  return {
    ...rest,
    operation: {
      ...operation,
      operationId: named ? `${operation.operationId}ForTarget` : operation.operationId,
      security: WEBHOOK_SENDERS.map((each) => ({ [nameOf(each)]: [] })),
      parameters: [...parameters, ...eventHeaders()],
      requestBody: BODY,
    },
  };
}

/** Members of every payload of a push: they name the thing that was pushed to. */
const PAYLOAD: JsonSchema = {
  type: "object",
  anyOf: [
    ...["repository", "project", "resource"].map((name) => ({
      required: [name],
      properties: { [name]: { type: "object", minProperties: 1 } },
    })),
    {
      required: ["source", "artifact", "digest"],
      properties: {
        source: { const: "oci" },
        artifact: { type: "string", minLength: 1 },
        digest: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
      },
    },
  ],
};

const BODY = {
  required: true,
  description: "The sender's own payload of a push; other events are accepted and ignored.",
  content: { "application/json": { schema: PAYLOAD } },
};

function eventHeaders(): JsonSchema[] {
  const names = WEBHOOK_SENDERS.flatMap(({ eventHeader }) => eventHeader ?? []);
  return [...new Set(names)].map((name) => ({
    name,
    in: "header",
    schema: { type: "string" },
    description: "Which event it is, where the sender tells it in this header.",
  }));
}

function scheme({ scheme: kind, securityHeader, description }: WebhookSenderFacts): JsonSchema {
  return kind === "basic"
    ? { type: "http", scheme: "basic", description }
    : { type: "apiKey", in: "header", name: securityHeader, description };
}

/** A sender's name as a key of the document. */
function nameOf({ provider }: WebhookSenderFacts): string {
  return provider.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
