import {
  containerView,
  decisionView,
  deploymentDetail,
  deploymentView,
  healthView,
  pollEntrySchema,
  projectView,
  releaseView,
  runView,
  targetView,
} from "../../api/mod.ts";
import { API_KEY_HEADER } from "../authenticate.ts";
import type { RouteFacts } from "../route.ts";
import { type OpenApiDocument, openApiDocument } from "./document.ts";
import { documentedRoute, errorResponse } from "./route_document.ts";
import { SchemaBook } from "./schemas.ts";

const SHARED_SCHEMAS = {
  Health: healthView,
  Deployment: deploymentView,
  DeploymentDetail: deploymentDetail,
  Release: releaseView,
  Decision: decisionView,
  Run: runView,
  RunTarget: targetView,
  Project: projectView,
  Container: containerView,
  PollConfiguration: pollEntrySchema,
  ErrorResponse: errorResponse,
};

/** The OpenAPI document of REST and health, made from the routes. */
export function restDocument(routes: readonly RouteFacts[], version: string): OpenApiDocument {
  const book = new SchemaBook();
  book.name(SHARED_SCHEMAS);
  return openApiDocument({
    title: "Stackwright REST API",
    description: "Deploys compose projects from Git repositories, and says what it did and why. " +
      "POST and DELETE refuse query parameters that they do not have.",
    version,
    seeAlso: { description: "The webhooks.", url: "/openapi/webhooks.json" },
    securitySchemes: { apiKey: { type: "apiKey", in: "header", name: API_KEY_HEADER } },
    operations: routes.map((route) => documentedRoute(route, book)),
    book,
  });
}
