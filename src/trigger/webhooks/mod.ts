/** Webhooks become Work: functions of a request and the settings, which prove, read and locate it. */
export { deliveryOf, type WebhookSourceOptions } from "./delivery.ts";
export type { WebhookChange, WebhookEvent, WebhookRepository } from "./event.ts";
export { createLocate, type LocateOptions, type RepositoryAddress } from "./locate.ts";
export { detectProvider, WEBHOOK_PROVIDERS, type WebhookProvider } from "./providers.ts";
export { type ReadWebhook, readWebhook } from "./read.ts";
