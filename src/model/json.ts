/** A JSON object of unknown shape. */
export type JsonObject = { readonly [key: string]: unknown };

/** True when a value is a JSON object; bytes and dates, which YAML can produce, are none. */
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

/** The member of a value under a key, where the value is an object. */
export function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

/** The value at a path of own keys, never of inherited ones; `undefined` when there is none. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (at === null || typeof at !== "object" || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** The value of a JSON text; `undefined`, which JSON cannot express, for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Characters that a reader of YAML takes for line ends, passes over, or refuses where they stand raw. */
const UNLIKE_IN_YAML = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * A value as JSON that every reader of YAML, which compose is, reads as the same value: in quotes
 * U+0085, U+2028 and U+2029 are line ends to it, so that the blanks around them go.
 */
export function jsonForYaml(value: unknown): string {
  return JSON.stringify(value).replace(
    UNLIKE_IN_YAML,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The object of a JSON text; an empty one for any other value and for invalid JSON. */
export function parseObject(text: string): JsonObject {
  return recordOf(parseJson(text));
}

/** A record's own value under a name, which may be `constructor`, as every object inherits. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Whether a value is set: compose prints empty values for keys that are not. */
export function isFilled(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** An object without members that are `undefined`. */
type Filled<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The members of an object that have content, for outputs in which absent members mean the default:
 * drops `undefined`, empty texts, empty lists and empty maps. `false` and 0 count as content.
 */
export function filled<T extends object>(members: T): Filled<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => !isEmpty(value)),
  ) as Filled<T>;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  // Dates and Maps have no keys either, but have content.
  const isMap = typeof value === "object" && value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isMap && Object.keys(value).length === 0;
}
