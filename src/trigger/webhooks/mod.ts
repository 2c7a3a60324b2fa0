/**
 * Webhooks become Work: who sent one, whether it is authentic, what it says, and which source that
 * is. Everything here is a function of the request and the settings.
 */
export { deliveryOf, type WebhookSourceOptions } from "./delivery.ts";
export type { WebhookChange, WebhookEvent, WebhookRepository } from "./event.ts";
export { createLocate, type LocateOptions, type RepositoryAddress } from "./locate.ts";
export { detectProvider, WEBHOOK_PROVIDERS, type WebhookProvider } from "./providers.ts";
export { type ReadWebhook, readWebhook } from "./read.ts";
