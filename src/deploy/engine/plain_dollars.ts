import type { ComposeModel } from "../../model/mod.ts";
import { isObject } from "../../compose/model.ts";
import { plainDollars } from "../../compose/tree_paths.ts";

/** A rendered model for the engine, with plain dollars: compose doubles each one it prints. */
export function withPlainDollars(model: ComposeModel): ComposeModel {
  return plain(model) as ComposeModel;
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return plainDollars(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}
