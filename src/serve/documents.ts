import { describedWebhookOperation, type Operations } from "../api/mod.ts";
import type { Answer } from "./envelope.ts";
import { OPENAPI_MEDIA_TYPE, type OpenApiDocument } from "./openapi/document.ts";
import { restDocument } from "./openapi/rest_document.ts";
import { webhookDocument } from "./openapi/webhook_document.ts";
import { restRoutes } from "./rest.ts";
import { webhookFacts } from "./webhooks.ts";
import type { Route } from "./route.ts";

/** The documents that are served, by the name they have in paths. */
export interface Documents {
  readonly rest: OpenApiDocument;
  readonly webhooks: OpenApiDocument;
}

/** Makes the documents of everything the operations offer; every route is in them, enabled or not. */
export function openApiDocumentsOf(operations: Operations, version: string): Documents {
  return {
    rest: restDocument(restRoutes(operations), version),
    webhooks: webhookDocument(webhookFacts(describedWebhookOperation()), version),
  };
}

/** Loaders of the files that pages need, by name. */
type Assets = Readonly<Record<string, () => Promise<Answer>>>;

/** The routes of the OpenAPI documents and their pages, which ask no other host for anything. */
export function documentRoutes({ rest, webhooks }: Documents, files: Assets = ASSETS): Route[] {
  const assets = new Map<string, Promise<Answer>>();
  return [
    documentRoute("/openapi/rest.json", rest),
    documentRoute("/openapi/webhooks.json", webhooks),
    ...redirects("/docs", "/docs/webhooks"),
    pageRoute("/docs/", "Stackwright REST API", "/openapi/rest.json"),
    pageRoute("/docs/webhooks/", "Stackwright webhooks", "/openapi/webhooks.json"),
    get(
      "/docs/assets/{name}",
      async ({ params }) => await assetAnswer(files, params["name"] ?? "", assets),
    ),
  ];
}

function documentRoute(path: string, document: OpenApiDocument): Route {
  const answer = raw(OPENAPI_MEDIA_TYPE, JSON.stringify(document, undefined, 2) + "\n");
  return get(path, () => answer);
}

/** Redirects to the path with a slash, without which the page's relative links would be wrong. */
function redirects(...paths: readonly string[]): Route[] {
  return paths.map((path) =>
    get(path, () => ({
      kind: "raw",
      status: 308,
      body: "",
      headers: { Location: `${path}/`, "Content-Type": "text/plain; charset=utf-8" },
    }))
  );
}

function pageRoute(path: string, title: string, document: string): Route {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/style.css">
</head>
<body>
<div id="page" data-document="${document}"></div>
<script src="/docs/assets/pages.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
`;
  const headers = { "Content-Security-Policy": POLICY };
  return get(path, () => raw("text/html; charset=utf-8", html, headers));
}

/** The page's scripts are ours alone; its library writes styles and small pictures into the page. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const START = `SwaggerUIBundle({
  url: document.getElementById("page").dataset.document,
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: null,
});
`;

/** Loaded when a page is asked for the first time: most processes never need the megabytes. */
const ASSETS: Assets = {
  async "pages.js"() {
    const { default: script } = await import("swagger-ui-dist/swagger-ui-bundle.js", {
      with: { type: "text" },
    });
    return asset("text/javascript; charset=utf-8", script as unknown as string);
  },
  async "style.css"() {
    const { default: style } = await import("swagger-ui-dist/swagger-ui.css", {
      with: { type: "text" },
    });
    return asset("text/css; charset=utf-8", style as unknown as string);
  },
  "start.js": () => Promise.resolve(asset("text/javascript; charset=utf-8", START)),
};

/** Encodes each asset once, as megabytes take milliseconds; a failure is tried again. */
async function assetAnswer(
  files: Assets,
  name: string,
  made: Map<string, Promise<Answer>>,
): Promise<Answer> {
  const make = Object.hasOwn(files, name) ? files[name] : undefined;
  if (make === undefined) return { kind: "refusal", refusal: { status: 404, error: "not found" } };
  try {
    return await made.getOrInsertComputed(name, make);
  } catch (error) {
    made.delete(name);
    throw error;
  }
}

function asset(contentType: string, body: string): Answer {
  return raw(contentType, body, { "Cache-Control": "public, max-age=3600" });
}

function raw(contentType: string, body: string, headers: Record<string, string> = {}): Answer {
  const bytes = new TextEncoder().encode(body);
  return {
    kind: "raw",
    status: 200,
    body: bytes,
    headers: { "Content-Type": contentType, ...headers },
  };
}

function get(
  path: string,
  answer: (exchange: Parameters<Route["answer"]>[0]) => Answer | Promise<Answer>,
): Route {
  return {
    methods: ["GET", "HEAD"],
    path,
    access: "public",
    power: "read",
    answer: async (exchange) => await answer(exchange),
  };
}
