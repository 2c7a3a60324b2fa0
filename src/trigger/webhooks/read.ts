import { authenticateWebhook } from "./authenticate.ts";
import type { WebhookEvent } from "./event.ts";
import { malformed } from "./payload.ts";
import { detectProvider, eventName, type WebhookHeaders } from "./providers.ts";
import { isObject, parseJson, strictUtf8 } from "../../model/mod.ts";

/** An authentic webhook. */
export interface ReadWebhook {
  /** Name of the sender, for people. */
  readonly provider: string;
  readonly event: WebhookEvent;
}

/**
 * Reads a webhook: detects the sender, checks that the request is authentic, and only then parses
 * it. `body` has the bytes as received.
 *
 * Throws `bad_request` for a request without a security header, with an empty or malformed body, or
 * without its event header, and `unauthorized` when the secret is wrong.
 */
export function readWebhook(
  request: { readonly headers: WebhookHeaders; readonly body: Uint8Array },
  secret: string,
): ReadWebhook {
  const { headers, body } = request;
  const provider = detectProvider(headers);
  if (body.length === 0) throw malformed("the body is empty");
  authenticateWebhook(provider, request, secret);
  const name = eventName(provider, headers);
  const payload = parsePayload(body, headers.get("content-type") ?? "");
  return { provider: provider.name, event: provider.read(name, payload) };
}

/**
 * Parses JSON, or a form with JSON in its field `payload`, which some providers send by default.
 * The content type alone must not decide: it is not signed, and signed JSON may look like a form.
 */
function parsePayload(body: Uint8Array, contentType: string): unknown {
  const text = strictUtf8(body);
  if (text === undefined) throw malformed("the body is not UTF-8");
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType) &&
    text.startsWith("payload=");
  const payload = parseJson(isForm ? new URLSearchParams(text).get("payload") ?? "" : text);
  if (payload === undefined) throw malformed("the body is not exactly one JSON value");
  if (isObject(payload)) return payload;
  throw malformed("the body is not a JSON object");
}
