import { type OpenApiDocument, openApiDocument } from "./document.ts";
import { SchemaBook } from "./schemas.ts";

/** The OpenAPI document of the webhooks. */
export function webhookDocument(version: string): OpenApiDocument {
  const book = new SchemaBook();
  return openApiDocument({
    title: "Stackwright webhooks",
    description: "Where Git hosts announce pushes.",
    version,
    seeAlso: { description: "The REST API.", url: "/openapi/rest.json" },
    securitySchemes: {},
    operations: [],
    book,
  });
}
