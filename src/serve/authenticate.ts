import { createHash, timingSafeEqual } from "node:crypto";
import type { Power } from "../api/mod.ts";
import type { HttpRequest } from "./http_request.ts";

/** Header with the API key. */
export const API_KEY_HEADER = "x-api-key";

/** Keys of the API; one that is absent or empty is nobody's. */
export interface ApiKeys {
  /** May do everything. */
  readonly full: string | undefined;
  /** May look, and do nothing. */
  readonly read?: string | undefined;
}

/** The powers of whoever sent a request: none when its key is missing or wrong. */
export type Authenticate = (request: Pick<HttpRequest, "headers">) => ReadonlySet<Power>;

const NONE: ReadonlySet<Power> = new Set();
const READ: ReadonlySet<Power> = new Set<Power>(["read"]);
const EVERYTHING: ReadonlySet<Power> = new Set<Power>(["read", "logs", "act"]);

/**
 * A check against the keys. Both sides are hashed first, so that neither content nor length of a key
 * can be read from how long the comparison takes. Every key is compared, whichever is right.
 */
export function createAuthenticate({ full, read }: ApiKeys): Authenticate {
  const isFull = matcher(full ?? "");
  const isRead = matcher(read ?? "");
  return (request) => {
    const given = digest(request.headers.get(API_KEY_HEADER) ?? "");
    const [everything, reads] = [isFull(given), isRead(given)];
    if (everything) return EVERYTHING;
    return reads ? READ : NONE;
  };
}

/** The test for the digest of `secret`; an empty secret is nobody's. */
function matcher(secret: string): (given: Uint8Array) => boolean {
  const expected = digest(secret);
  return (given) => timingSafeEqual(given, expected) && secret !== "";
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text, "utf8").digest();
}
