/** A JSON object of unknown shape. */
export type JsonObject = { readonly [key: string]: unknown };

/** True when a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The member of a value, where it is an object that has one of that name. */
export function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

/** The object that a text of JSON says; an empty one where it says something else, or nothing. */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
