import { randomUUID } from "node:crypto";
import type { Clock } from "./clock.ts";

/** Makes identifiers that never repeat. */
export interface Ids {
  /** The next run or request id. */
  next(): string;
}

/** UUIDv7 (RFC 9562 §5.7): sorts by the time `clock` shows, random otherwise. */
export function createIds(clock: Clock): Ids {
  return { next: () => uuidV7(clock.now().getTime(), randomUUID()) };
}

/** Position of the random bits of a UUIDv4 that a UUIDv7 has as well, its variant among them. */
const RANDOM_PART = 15;

/** A UUIDv7 of a Unix time in milliseconds, with the random bits of a UUIDv4. */
export function uuidV7(milliseconds: number, uuidV4: string): string {
  const time = milliseconds.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuidV4.slice(RANDOM_PART)}`;
}
