import { type Packet, readPackets, writePackets } from "./pkt_line.ts";
import type { RemoteRefs } from "./remote_refs.ts";

/** First answer of a server: its capabilities in protocol 2, all references in an older protocol. */
type Advertisement =
  | { readonly version: 2; readonly capabilities: readonly string[] }
  /** The server listed all references at once. */
  | { readonly version: 0; readonly refs: RemoteRefs };

const ID = "[0-9a-f]{40}(?:[0-9a-f]{24})?";

/** Capabilities that are used. The others are dropped: answers are remembered for any number of servers. */
const USED = ["ls-refs", "fetch", "object-format"];
/** Characters of the longest capability that is kept, many times what is usual. */
const LONGEST_CAPABILITY = 200;

function usedOf(lines: readonly string[]): string[] {
  const short = lines.filter(({ length }) => length <= LONGEST_CAPABILITY);
  return USED.flatMap((name) =>
    short.find((line) => line === name || line.startsWith(`${name}=`)) ?? []
  );
}

/** Reads the first answer of a server; `undefined` when it is malformed. */
export function readAdvertisement(body: string): Advertisement | undefined {
  const packets = readPackets(new TextEncoder().encode(body));
  if (packets === undefined || packets.at(-1) !== "flush") return undefined;
  const lines = textsOf(
    textOf(packets[0]) === "# service=git-upload-pack" && packets[1] === "flush"
      ? packets.slice(2, -1)
      : packets.slice(0, -1),
  );
  if (lines === undefined) return undefined;
  if (lines[0] === "version 2") return { version: 2, capabilities: usedOf(lines) };
  const refs = readOldRefs(lines[0] === "version 1" ? lines.slice(1) : lines);
  return refs === undefined ? undefined : { version: 0, refs };
}

/** The request for references by full name in protocol 2, to a server with these capabilities. */
export function lsRefsRequest(names: readonly string[], capabilities: readonly string[]): string {
  const format = capabilities.find((each) => each.startsWith("object-format="));
  return writePackets([
    "command=ls-refs",
    ...(format === undefined ? [] : [format]),
    "delimiter",
    "peel",
    "symrefs",
    ...names.map((name) => `ref-prefix ${name}`),
    "flush",
  ]);
}

/** Reads the answer to {@link lsRefsRequest}; `undefined` when it is malformed. */
export function readLsRefs(body: string): RemoteRefs | undefined {
  const packets = readPackets(new TextEncoder().encode(body));
  const isWhole = packets?.at(-1) === "flush";
  const lines = isWhole ? textsOf(packets.slice(0, -1)) : undefined;
  if (lines === undefined) return undefined;
  const ids = new Map<string, string>();
  let head: string | undefined;
  for (const line of lines) {
    const [, id, name, rest] = new RegExp(`^(${ID}) ([^ ]+)((?: [^ ]+)*)$`).exec(line) ?? [];
    if (id === undefined || name === undefined || rest === undefined) return undefined;
    ids.set(name, id);
    const peeled = new RegExp(` peeled:(${ID})(?= |$)`).exec(rest)?.[1];
    if (peeled !== undefined) ids.set(`${name}^{}`, peeled);
    if (name === "HEAD") head = / symref-target:([^ ]+)/.exec(rest)?.[1];
  }
  return { ids, head };
}

/** All references of protocol 0 or 1; the capabilities stand behind the first one. */
function readOldRefs(lines: readonly string[]): RemoteRefs | undefined {
  const ids = new Map<string, string>();
  const [first = "", capabilities = ""] = lines[0]?.split("\0") ?? [];
  for (const line of [first, ...lines.slice(1)]) {
    const [, id, name] = new RegExp(`^(${ID}) ([^ ]+)$`).exec(line) ?? [];
    if (id === undefined || name === undefined) return undefined;
    // An empty repository lists this placeholder instead of references.
    if (name !== "capabilities^{}") ids.set(name, id);
  }
  return { ids, head: /(?:^| )symref=HEAD:([^ ]+)/.exec(capabilities)?.[1] };
}

function textOf(packet: Packet | undefined): string | undefined {
  return typeof packet === "object" ? packet.text : undefined;
}

/** The texts of packets; `undefined` when one of them is a mark. */
function textsOf(packets: readonly Packet[]): string[] | undefined {
  const texts = packets.map(textOf).filter((text) => text !== undefined);
  return texts.length === packets.length ? texts : undefined;
}
