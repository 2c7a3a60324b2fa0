/** A JSON object of unknown shape. */
export type JsonObject = { readonly [key: string]: unknown };

/** True when a value is an object as JSON has it; bytes and instants, which YAML has too, are none. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Uint8Array) && !(value instanceof Date);
}

/** The value where it is a JSON object, otherwise an empty one. */
export function recordOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value where it is a list, otherwise an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The member of a value, where it is an object that has one of that name. */
export function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

/**
 * The value at a path of keys; `undefined` when there is none. Own keys only: a reference must not reach
 * what every object inherits.
 */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (at === null || typeof at !== "object" || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** The value that a text of JSON says; `undefined`, which JSON cannot say, where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object that a text of JSON says; an empty one where it says something else, or nothing. */
export function parseObject(text: string): JsonObject {
  return recordOf(parseJson(text));
}

/**
 * The value a record has under a name, if it is its own: what repositories call their things may be
 * `constructor` or `toString`, which every object answers to.
 */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** An object whose members may be left out. */
type Filled<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The members of an object that say something, for who takes those that are not there as told: without
 * those that are `undefined`, an empty text, an empty list or an empty map. `false` and 0 say something.
 */
export function filled<T extends object>(members: T): Filled<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => !isEmpty(value)),
  ) as Filled<T>;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  // A date or a Map has no keys either, and says something.
  const isMap = typeof value === "object" && value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isMap && Object.keys(value).length === 0;
}
