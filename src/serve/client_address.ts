import type { RequestHeaders } from "./http_request.ts";
import { addressIn, type Networks } from "../system/mod.ts";

/** Proxies whose header with the client's address is believed. */
export interface TrustedProxies {
  readonly networks: Networks;
  /** `X-Forwarded-For`, or another header with an address. */
  readonly header: string;
}

/** The address of the client behind trusted proxies, for logs alone: headers can be made up. */
export function clientAddress(
  remote: string,
  headers: RequestHeaders,
  { networks, header }: TrustedProxies,
): string {
  const peer = addressIn(remote) ?? remote;
  if (!networks.contains(peer)) return peer;
  const given = headers.get(header) ?? "";
  if (header.toLowerCase() !== "x-forwarded-for") return firstAddress(given) ?? peer;
  return outermost(given.split(","), networks) ??
    outermost(forwardedFor(headers.get("forwarded") ?? ""), networks) ?? peer;
}

/** From right to left the first address that is no proxy of ours; the leftmost when all of them are. */
function outermost(hops: readonly string[], networks: Networks): string | undefined {
  const addresses = hops.map(addressIn).filter((each) => each !== undefined);
  return addresses.findLast((each) => !networks.contains(each)) ?? addresses[0];
}

function firstAddress(text: string): string | undefined {
  return text.split(",").map(addressIn).find((each) => each !== undefined);
}

/** The `for=` parts of `Forwarded` (RFC 7239), in order. */
function forwardedFor(text: string): string[] {
  return [...text.matchAll(/(?:^|[;,\s])for=("[^"]*"|[^;,\s]+)/gi)].map((each) => each[1] ?? "");
}
