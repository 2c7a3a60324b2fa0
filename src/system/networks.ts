import { BlockList, isIP } from "node:net";

/** Networks that an address may be in. */
export interface Networks {
  contains(address: string): boolean;
}

/** Networks in CIDR form (`10.0.0.0/8`, `::1/128`) or single addresses; others are left out. */
export function createNetworks(texts: readonly string[]): Networks {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", prefix] = text.split("/");
    const family = isIP(address);
    if (family === 0) continue;
    const type = family === 4 ? "ipv4" : "ipv6";
    if (prefix === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(prefix), type);
  }
  return {
    contains(address) {
      const family = isIP(address);
      return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
    },
  };
}

/**
 * A network out of some and one of `others` that have an address in common, in CIDR form; what is none is
 * left out. Takes a while for each of both lists, not for each pair.
 */
export function firstInCommon(
  some: readonly string[],
  others: readonly string[],
): { readonly one: string; readonly other: string } | undefined {
  const [ones = [], rest = []] = [some, others].map((all) => all.filter(isNetwork));
  const [inOnes, inRest] = [createNetworks(ones), createNetworks(rest)];
  const one = ones.find((each) => inRest.contains(baseOf(each)));
  if (one !== undefined) {
    const other = rest.find((each) => createNetworks([each]).contains(baseOf(one)));
    return other === undefined ? undefined : { one, other };
  }
  const other = rest.find((each) => inOnes.contains(baseOf(each)));
  const around = ones.find((each) => createNetworks([each]).contains(baseOf(other ?? "")));
  return other === undefined || around === undefined ? undefined : { one: around, other };
}

function baseOf(network: string): string {
  return network.slice(0, network.indexOf("/"));
}

function isNetwork(text: string): boolean {
  const length = /^[^/]+\/(\d{1,3})$/.exec(text)?.[1];
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(baseOf(text))] ?? -1;
  return length !== undefined && Number(length) <= most;
}

/**
 * An address out of a text as headers and sockets have it: with a port, in brackets or quotes, or an
 * IPv4 address in IPv6 form. `undefined` when there is none.
 */
export function addressIn(text: string): string | undefined {
  const bare = text.trim().replace(/^"|"$/g, "");
  const inBrackets = /^\[([^\]]+)\](?::\d+)?$/.exec(bare)?.[1];
  const withoutPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1];
  const candidate = (inBrackets ?? withoutPort ?? bare).replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(candidate) === 0 ? undefined : candidate;
}

/** True for an IPv6 address, without brackets. */
export function isAddress6(text: string): boolean {
  return isIP(text) === 6;
}

/**
 * The one spelling of an address that has several, as the engine compares them: `::1` for `0:0::1`, `127.0.0.1`
 * for `::ffff:127.0.0.1`. `undefined` for what is none to the engine: a name, an address with brackets or a zone,
 * an IPv4 address with fewer or longer parts.
 */
export function spelledOnce(text: string): string | undefined {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : undefined;
  const spelled = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(spelled ?? "");
  if (mapped === null) return spelled;
  const halves = mapped.slice(1).map((each) => Number.parseInt(each, 16));
  return halves.flatMap((each) => [each >> 8, each & 255]).join(".");
}
