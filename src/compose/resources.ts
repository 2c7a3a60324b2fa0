import type { ComposeModel, Release } from "../model/mod.ts";
import { type JsonObject, objectAt, recordOf, textAt } from "./model.ts";

/** Kinds of top-level resources that services refer to by key. */
export type ResourceKind = "networks" | "volumes" | "configs" | "secrets";

/** A resource of a model, with its key there and its name on the engine. */
export interface Resource {
  readonly key: string;
  readonly name: string;
  /** Whether it must exist already, whoever made it. */
  readonly external: boolean;
  readonly definition: JsonObject;
}

/** The resources of one kind; none if the model has another value there. */
export function resourcesOf(model: ComposeModel, kind: ResourceKind): Resource[] {
  return Object.entries(objectAt(model, kind)).map(([key, value]) => {
    const definition = recordOf(value);
    const external = definition["external"] === true;
    return { key, name: textAt(definition, "name") || key, external, definition };
  });
}

/** The networks or volumes of a release's project, also of services whose profiles are not active. */
export function allResourcesOf(
  { model, unused = {} }: Pick<Release, "model" | "unused">,
  kind: "networks" | "volumes",
): Resource[] {
  return [...resourcesOf(model, kind), ...resourcesOf(unused, kind)];
}

/** The engine's name of a resource in the model. */
export function resourceName(model: ComposeModel, kind: ResourceKind, key: string): string {
  return textAt(objectAt(objectAt(model, kind), key), "name") || key;
}
