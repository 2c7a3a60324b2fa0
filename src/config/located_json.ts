import type { Located, LocatedEntry } from "./located.ts";

/** Levels of nesting no configuration needs; deeper input is refused before it can exhaust a stack. */
export const DEEPEST = 50;

/**
 * A parsed JSON value in the shape the decoders read. It has no positions, and a number's text is
 * JavaScript's (`1.10` became `1.1` when the JSON was parsed; write text where that matters).
 *
 * `undefined` inside objects counts as absent. Returns `undefined` when the value is nested deeper
 * than {@link DEEPEST} levels.
 */
export function locateJson(value: unknown): Located | undefined {
  try {
    return convert(value, 0);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
}

class TooDeep extends Error {}

function convert(value: unknown, depth: number): Located {
  if (depth > DEEPEST) throw new TooDeep();
  if (Array.isArray(value)) {
    return { kind: "list", items: value.map((item) => convert(item, depth + 1)), at: undefined };
  }
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return { kind: "scalar", value, text: String(value), plain: false, at: undefined };
    case "object":
      return value === null ? { kind: "null", at: undefined } : convertObject(value, depth);
    default:
      return { kind: "null", at: undefined };
  }
}

function convertObject(value: object, depth: number): Located {
  const entries = new Map<string, LocatedEntry>();
  for (const [key, item] of Object.entries(value)) {
    entries.set(key, { at: undefined, value: convert(item, depth + 1) });
  }
  return { kind: "map", entries, at: undefined };
}
