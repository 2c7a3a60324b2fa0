const TAKEN =
  /(?:listen (?:tcp|udp)[46]?|Bind for|bind host port(?: for)?) (\S+?:(\d+))(?:[/:]\S*)? .*?(already in use|already allocated)/;

/** What an engine refused, for people: where a port of the host is taken, which, by whom, and what to do. */
export function portTold(refusal: string): string {
  const [, where, port, how] = TAKEN.exec(refusal) ?? [];
  if (where === undefined) return refusal;
  // Ports that other containers publish were looked at before: these are of ranges, or came since.
  const holder = how === "already allocated"
    ? `another container (docker ps --filter publish=${port} says which)`
    : `a program that is no container, or one in the host's network (ss -lnp 'sport = :${port}' says ` +
      "which)";
  return `port ${where} of the host is taken by ${holder}; end it, or publish another port`;
}
