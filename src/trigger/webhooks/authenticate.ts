import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { requestError } from "../../model/mod.ts";
import type { Proof, WebhookHeaders, WebhookProvider } from "./providers.ts";

/**
 * Checks that the sender of a request knows the secret, in constant time. An empty secret refuses
 * everything. A recorded request may be replayed: it causes another look at the repository, no
 * more.
 *
 * Throws `unauthorized`, which says what was checked, not what was found.
 */
export function authenticateWebhook(
  provider: WebhookProvider,
  request: { readonly headers: WebhookHeaders; readonly body: Uint8Array },
  secret: string,
): void {
  const given = request.headers.get(provider.securityHeader) ?? "";
  if (secret !== "" && isProven(provider.proof, given, request.body, secret)) return;
  const { message, detail } = refusal(provider);
  throw requestError(message, detail, "unauthorized");
}

function isProven(proof: Proof, given: string, body: Uint8Array, secret: string): boolean {
  switch (proof.kind) {
    case "hmac":
      return isSigned(proof.prefix, given, body, secret);
    case "token":
      return isSame(given, secret);
    case "basic":
      return isSame(passwordOf(given), secret);
  }
}

const DIGEST_BYTES = 32;
const SIGNATURE = {
  never: /^([0-9a-f]{64})$/i,
  optional: /^(?:sha256=)?([0-9a-f]{64})$/i,
  always: /^sha256=([0-9a-f]{64})$/i,
} as const;

function isSigned(prefix: keyof typeof SIGNATURE, given: string, body: Uint8Array, secret: string) {
  const expected = createHmac("sha256", secret).update(body).digest();
  const hex = SIGNATURE[prefix].exec(given.trim())?.[1];
  const claimed = hex === undefined ? Buffer.alloc(DIGEST_BYTES) : Buffer.from(hex, "hex");
  return timingSafeEqual(expected, claimed) && hex !== undefined;
}

/** Compares hashes, so that timing does not tell the length of the secret either. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text, "utf8").digest();
  return timingSafeEqual(digest(given), digest(secret));
}

function passwordOf(authorization: string): string {
  const encoded = /^basic\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? "";
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? "" : text.slice(colon + 1);
}

function refusal({ name, proof }: WebhookProvider): { message: string; detail: string } {
  const message = "incorrect secret key";
  switch (proof.kind) {
    case "hmac":
      return { message, detail: "HMAC verification failed" };
    case "token":
      return {
        message: `${name.toLowerCase()} token verification failed`,
        detail: "the token is not the secret",
      };
    case "basic":
      return { message, detail: "the password is not the secret" };
  }
}
