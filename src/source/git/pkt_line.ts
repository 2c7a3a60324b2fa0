/** A piece of git's protocol: a line, or a mark between lines. */
export type Packet = { readonly text: string } | "flush" | "delimiter" | "end";

const MARKS: Readonly<Record<string, Packet>> = {
  "0000": "flush",
  "0001": "delimiter",
  "0002": "end",
};

/** Writes packets as they go over the wire; texts get the line feed that they end with. */
export function writePackets(packets: readonly (string | "flush" | "delimiter")[]): string {
  return packets.map((packet) => {
    if (packet === "flush") return "0000";
    if (packet === "delimiter") return "0001";
    const bytes = new TextEncoder().encode(packet).length + 5;
    return `${bytes.toString(16).padStart(4, "0")}${packet}\n`;
  }).join("");
}

/** Most packets of an answer: references have sixty bytes, and empty packets take as long to read. */
const MOST_PACKETS = 32_768;

/** Reads packets; `undefined` for other or cut bytes, and for more than {@link MOST_PACKETS}. */
export function readPackets(bytes: Uint8Array): Packet[] | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const packets: Packet[] = [];
  try {
    for (let at = 0; at < bytes.length;) {
      const head = decoder.decode(bytes.subarray(at, at + 4));
      if (!/^[0-9a-f]{4}$/i.test(head)) return undefined;
      const mark = MARKS[head];
      const length = Number.parseInt(head, 16);
      if (packets.length === MOST_PACKETS) return undefined;
      if (mark === undefined && (length < 4 || at + length > bytes.length)) return undefined;
      packets.push(
        mark ?? { text: decoder.decode(bytes.subarray(at + 4, at + length)).replace(/\n$/, "") },
      );
      at += mark === undefined ? length : 4;
    }
  } catch {
    return undefined;
  }
  return packets;
}
