import { type Deployment, stackKey } from "../model/mod.ts";

/** The first stack of each (context, name) that is there more than once, with all its places. */
export function duplicateStacks(deployments: readonly Deployment[]): readonly number[][] {
  const places = new Map<string, number[]>();
  for (const [index, { context, name, autoDiscovery }] of deployments.entries()) {
    // The base of a discovery is replaced by what it finds.
    if (name === "" || autoDiscovery.enabled) continue;
    const key = JSON.stringify(stackKey(context, name));
    places.set(key, [...places.get(key) ?? [], index]);
  }
  return [...places.values()].filter((indexes) => indexes.length > 1);
}
