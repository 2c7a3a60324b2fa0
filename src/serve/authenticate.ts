import { createHash, timingSafeEqual } from "node:crypto";
import type { Power } from "../api/mod.ts";
import type { HttpRequest } from "./http_request.ts";

/** Header with the API key. */
export const API_KEY_HEADER = "x-api-key";

/** Keys of the API; an absent or empty key matches no request. */
export interface ApiKeys {
  /** Grants every power. */
  readonly full: string | undefined;
  /** Grants the power to read. */
  readonly read?: string | undefined;
}

/** The powers that the key of a request grants: none when the key is missing or wrong. */
export type Authenticate = (request: Pick<HttpRequest, "headers">) => ReadonlySet<Power>;

const NONE: ReadonlySet<Power> = new Set();
const READ: ReadonlySet<Power> = new Set<Power>(["read"]);
const EVERYTHING: ReadonlySet<Power> = new Set<Power>(["read", "logs", "act"]);

/** Makes the check of keys, whose time reveals neither content nor length of a key. */
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

/** The test for the digest of `secret`; an empty secret never matches. */
function matcher(secret: string): (given: Uint8Array) => boolean {
  const expected = digest(secret);
  return (given) => timingSafeEqual(given, expected) && secret !== "";
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text, "utf8").digest();
}
