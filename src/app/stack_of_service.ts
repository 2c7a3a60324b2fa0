import type { Ledger } from "../record/mod.ts";

/** Parts of a service's name, which has at most 63 characters. */
const MOST_PARTS = 64;
/** Releases whose services are remembered. */
const MOST_RELEASES = 100;

/** Makes a function that tells the stack of a swarm's service by its name, and remembers it. */
export function createStackOf(
  ledger: Pick<Ledger, "current" | "services">,
  context: string,
): (service: string) => string | undefined {
  const known = new Map<string, ReadonlySet<string>>();
  const namesOf = (release: Parameters<Ledger["services"]>[0]) => {
    const before = known.get(release.id);
    if (before !== undefined) return before;
    const names = new Set(ledger.services(release).map(({ name }) => name));
    if (known.size >= MOST_RELEASES) known.clear();
    known.set(release.id, names);
    return names;
  };
  return (service) => {
    const parts = service.split("_", MOST_PARTS);
    return parts.map((_, at) => parts.slice(0, at).join("_")).find((name) => {
      const current = ledger.current({ context, name });
      return current?.swarm !== undefined &&
        namesOf(current).has(service.slice(name.length + 1));
    });
  };
}
