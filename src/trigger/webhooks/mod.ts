/**
 * Webhooks become Work: detects the sender, checks that the request is authentic, reads it and
 * locates the source. Everything here is a function of the request and the settings.
 */
export { deliveryOf, type WebhookSourceOptions } from "./delivery.ts";
export type { WebhookChange, WebhookEvent, WebhookRepository } from "./event.ts";
export { createLocate, type LocateOptions, type RepositoryAddress } from "./locate.ts";
export { detectProvider, WEBHOOK_PROVIDERS, type WebhookProvider } from "./providers.ts";
export { type ReadWebhook, readWebhook } from "./read.ts";
