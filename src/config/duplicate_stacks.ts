import { type Deployment, stackKey } from "../model/mod.ts";

/** Indexes of the deployments with the same context and name, one list for each duplicate. */
export function duplicateStacks(deployments: readonly Deployment[]): readonly number[][] {
  const places = new Map<string, number[]>();
  for (const [index, { context, name, autoDiscovery }] of deployments.entries()) {
    // A discovery is replaced by the stacks that it finds.
    if (name === "" || autoDiscovery.enabled) continue;
    const key = JSON.stringify(stackKey(context, name));
    places.set(key, [...places.get(key) ?? [], index]);
  }
  return [...places.values()].filter((indexes) => indexes.length > 1);
}
