import type { ComposeModel } from "../model/mod.ts";
import { type JsonObject, objectAt, recordOf, textAt } from "./model.ts";

/** Kinds of what a model defines beside its services, which use it by its key. */
type ResourceKind = "networks" | "volumes" | "configs" | "secrets";

/** A resource of a model, by its key there and its name on the engine. */
export interface Resource {
  readonly key: string;
  readonly name: string;
  /** True when it has to be there already, whoever made it. */
  readonly external: boolean;
  readonly definition: JsonObject;
}

/** The resources of one kind; none where the model says something else there. */
export function resourcesOf(model: ComposeModel, kind: ResourceKind): Resource[] {
  return Object.entries(objectAt(model, kind)).map(([key, value]) => {
    const definition = recordOf(value);
    const external = definition["external"] === true;
    return { key, name: textAt(definition, "name") || key, external, definition };
  });
}

/** The name under which the engine knows a resource of the model. */
export function resourceName(model: ComposeModel, kind: ResourceKind, key: string): string {
  return textAt(objectAt(objectAt(model, kind), key), "name") || key;
}
