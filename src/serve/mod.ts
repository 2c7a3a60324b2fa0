/**
 * The interfaces to the operations: REST, webhooks, tools (MCP) and metrics. REST is a table of routes;
 * a handler answers requests without a socket, and the server connects it to one in either runtime.
 */
export { type Documents, openApiDocumentsOf } from "./documents.ts";
export { createHandler, type Handler } from "./handler.ts";
export { createMetricsHandler } from "./metrics.ts";
export { WEBHOOK_REFUSALS, WEBHOOK_SENDERS, WEBHOOK_SUCCESS } from "./webhook_facts.ts";
export { SERVER_LIMITS, type ServerLimits } from "./server_limits.ts";
export { createServer, type Server, type ServerOptions } from "./server.ts";
