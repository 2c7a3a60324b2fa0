import { sharedContainer } from "../model/mod.ts";
import type { ContainerDetails, Engine } from "./engine.ts";
import { asText } from "./json.ts";

/** The settings of a container that make it share the namespaces of another one. */
export const NAMESPACE_MODES = ["NetworkMode", "PidMode", "IpcMode"] as const;

/** Containers that hand on one namespace, one after the other. */
const MOST_IN_A_ROW = 16;

/** Containers that hand on one namespace to a container: the one that it joined, which may have joined another. */
export async function namespaceLenders(
  engine: Pick<Engine, "inspectContainer">,
  details: ContainerDetails,
  mode: (typeof NAMESPACE_MODES)[number],
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly details?: ContainerDetails }[]> {
  const lenders: { id: string; details?: ContainerDetails }[] = [];
  let at = details;
  while (lenders.length < MOST_IN_A_ROW) {
    const next = sharedContainer(asText(at.host?.[mode]));
    if (next === undefined) break;
    const found = await engine.inspectContainer(next, signal);
    lenders.push(found === undefined ? { id: next } : { id: found.container.id, details: found });
    if (found === undefined) break;
    at = found;
  }
  return lenders;
}
