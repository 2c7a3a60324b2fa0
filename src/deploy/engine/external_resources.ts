import type { ComposeModel } from "../../model/mod.ts";
import { isObject, objectAt, textAt } from "../../compose/mod.ts";

/** A model whose networks and volumes exist, so that whoever applies it neither makes nor changes them. */
export function asExternal(model: ComposeModel): ComposeModel {
  const external = (kind: "networks" | "volumes") => {
    if (!isObject(model[kind])) return {};
    const entries = Object.keys(model[kind]).map((key) => {
      const name = textAt(objectAt(objectAt(model, kind), key), "name") || key;
      return [key, { name, external: true }];
    });
    return { [kind]: Object.fromEntries(entries) };
  };
  return { ...model, ...external("networks"), ...external("volumes") };
}
