import { Buffer } from "node:buffer";
import { writePackets } from "./pkt_line.ts";

/** A request for the objects that one commit has beyond the history of another. */
export interface PackQuestion {
  readonly want: string;
  /** A commit that the mirror has with all of its history. */
  readonly have: string;
}

/** The request in protocol 2; `undefined` for a server whose capabilities lack `fetch`. */
export function packRequest(
  { want, have }: PackQuestion,
  capabilities: readonly string[],
): string | undefined {
  if (!capabilities.some((each) => /^fetch(?:=|$)/.test(each))) return undefined;
  const format = capabilities.find((each) => each.startsWith("object-format="));
  return writePackets([
    "command=fetch",
    ...(format === undefined ? [] : [format]),
    "delimiter",
    "thin-pack",
    "ofs-delta",
    "no-progress",
    `want ${want}`,
    `have ${have}`,
    "done",
    "flush",
  ]);
}

/** The pack in the answer to {@link packRequest}; `undefined` for any unusual answer. */
export function readPack(answer: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  const pieces: Uint8Array[] = [];
  let begun = false;
  for (let at = 0; at < bytes.length;) {
    const head = bytes.toString("latin1", at, at + 4);
    if (head === "0000") {
      return begun && at + 4 === bytes.length ? Buffer.concat(pieces) : undefined;
    }
    const end = at + Number.parseInt(head, 16);
    // Only git understands the sections that, for example, shallow servers send before the pack.
    if (!/^[0-9a-f]{4}$/i.test(head) || end < at + 5 || end > bytes.length) return undefined;
    if (!begun && bytes.toString("latin1", at + 4, end) !== "packfile\n") return undefined;
    if (begun && bytes[at + 4] === 1) pieces.push(bytes.subarray(at + 5, end));
    else if (begun && bytes[at + 4] !== 2) return undefined;
    begun = true;
    at = end;
  }
  return undefined;
}
