import { type JsonObject, objectAt, objectsAt, textAt } from "./model.ts";
import type { ResourceKind } from "./resources.ts";

/** The kinds of top-level resources, in the order of their names. */
export const RESOURCE_KINDS = ["configs", "networks", "secrets", "volumes"] as const;

/** Keys of the resources of one kind that a service names, each as often as it does. */
export function resourceUses(service: JsonObject, kind: ResourceKind): string[] {
  if (kind === "networks") return Object.keys(objectAt(service, kind));
  return objectsAt(service, kind)
    .filter((each) => kind !== "volumes" || each["type"] === "volume")
    .map((each) => textAt(each, "source")).filter((name) => name !== "");
}
