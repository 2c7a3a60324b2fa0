/**
 * The faces of the operations. REST is a table over them; a handler answers web-standard requests
 * without knowing a socket, and the server puts it on one in either runtime.
 */
export { type Documents, openApiDocumentsOf } from "./documents.ts";
export { createHandler, type Handler } from "./handler.ts";
export { createMetricsHandler } from "./metrics.ts";
export { WEBHOOK_REFUSALS, WEBHOOK_SENDERS, WEBHOOK_SUCCESS } from "./webhook_facts.ts";
export { SERVER_LIMITS, type ServerLimits } from "./server_limits.ts";
export { createServer, type Server, type ServerOptions } from "./server.ts";
