import { randomBytes } from "node:crypto";
import type { Clock } from "./clock.ts";

/** Makes identifiers that never repeat. */
export interface Ids {
  /** The next run or request id. */
  next(): string;
}

/** UUIDv7 (RFC 9562 §5.7): sorts by the time `clock` shows, random otherwise. */
export function createIds(clock: Clock): Ids {
  return { next: () => uuidV7(clock.now().getTime(), randomBytes(10)) };
}

/** Formats a UUIDv7 from a Unix time in milliseconds and ten random bytes. */
export function uuidV7(milliseconds: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(milliseconds) << 16n);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .join("-");
}
