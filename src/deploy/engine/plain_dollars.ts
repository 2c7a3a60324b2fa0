import type { ComposeModel } from "../../model/mod.ts";
import { isObject } from "../../compose/model.ts";
import { type Resource, type ResourceKind, resourcesOf } from "../../compose/resources.ts";
import { plainDollars } from "../../compose/tree_paths.ts";

/** A rendered model for the engine, with plain dollars: compose doubles each one it prints. */
export function withPlainDollars(model: ComposeModel): ComposeModel {
  return plain(model) as ComposeModel;
}

/** The resources of one kind of a rendered model, with plain dollars. */
export function plainResourcesOf(model: ComposeModel, kind: ResourceKind): Resource[] {
  return resourcesOf(withPlainDollars({ [kind]: model[kind] }), kind);
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return plainDollars(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}
