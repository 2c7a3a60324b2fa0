import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpRequest } from "./http_request.ts";

/** Header with the API key. */
export const API_KEY_HEADER = "x-api-key";

/** Whether a request carries the right API key. */
export type Authenticate = (request: Pick<HttpRequest, "headers">) => boolean;

/**
 * A check against `secret`. Both sides are hashed first, so that neither content nor length of the
 * key can be read from how long the comparison takes. An empty secret refuses everything.
 */
export function createAuthenticate(secret: string): Authenticate {
  const expected = digest(secret);
  return (request) => {
    const given = digest(request.headers.get(API_KEY_HEADER) ?? "");
    return timingSafeEqual(given, expected) && secret !== "";
  };
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text, "utf8").digest();
}
