/** In some of its words the engine writes IPv6 addresses without brackets: then the last number is the port. */
const TAKEN =
  /(?:listen (?:tcp|udp)[46]?|Bind for|bind host port(?: for)?) (?:((?:\[\S*?\]|[\d.]*):(\d+))(?:[/:]\S*)?|(\S+:(\d+))) .*?(already in use|already allocated)/;

/** An engine's error for people: for a taken port, says which one, who holds it and what to do. */
export function portTold(refusal: string): string {
  const [, at, number, at6, number6, how] = TAKEN.exec(refusal) ?? [];
  const [where, port] = [at ?? at6, number ?? number6];
  if (where === undefined) return refusal;
  // Published ports were checked before; these are in ranges, or were taken since.
  const holder = how === "already allocated"
    ? `another container (docker ps --filter publish=${port} says which)`
    : `a program that is no container, or one in the host's network (ss -lnp 'sport = :${port}' says ` +
      "which)";
  return `port ${where} of the host is taken by ${holder}; end it, or publish another port`;
}
