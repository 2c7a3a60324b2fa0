import { isObject } from "../../compose/model.ts";

/** Parts of a value that are understood: all of it, the named keys of an object, or of each object in it. */
type Shape = "all" | { readonly keys: Keys } | { readonly each: Keys };
/** Keys of an object with what is understood of each. */
export type Keys = Readonly<Record<string, Shape>>;

/** Keys of which everything is understood. */
export const all = (...names: readonly string[]): Keys =>
  Object.fromEntries(names.map((name) => [name, "all" as const]));

/** Keys of a service that mean the same for a container and for a task of a swarm. */
export const SHARED_KEYS: Keys = {
  healthcheck: {
    keys: all(
      "disable",
      "test",
      "interval",
      "timeout",
      "retries",
      "start_period",
      "start_interval",
    ),
  },
  configs: { each: all("source", "target", "uid", "gid", "mode") },
  secrets: { each: all("source", "target", "uid", "gid", "mode") },
  logging: { keys: all("driver", "options") },
};

/** Path of the first key that a shape does not have; a key without a value says nothing. */
export function unknownKey(value: unknown, shape: Shape): string | undefined {
  if (shape === "all" || !isFilled(value)) return undefined;
  if ("each" in shape) {
    if (typeof value !== "object" || value === null) return "";
    return firstOf(Object.entries(value), (each) => unknownKey(each, { keys: shape.each }));
  }
  // Old versions of compose print some entries as text: those are understood by who reads them.
  if (!isObject(value)) return undefined;
  return firstOf(Object.entries(value), (each, key) => {
    const known = Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
    if (known === undefined) return isFilled(each) ? "" : undefined;
    return unknownKey(each, known);
  });
}

function firstOf(
  entries: readonly (readonly [string, unknown])[],
  look: (value: unknown, key: string) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = look(value, key);
    if (found !== undefined) return found === "" ? key : `${key}.${found}`;
  }
  return undefined;
}

/** Whether a value says anything: empty ones are what compose prints for "not said". */
export function isFilled(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
