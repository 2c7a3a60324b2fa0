import * as z from "zod";
import type { Located } from "./located.ts";

/** Any value: maps and lists as they are, scalars as the texts that were written. */
export function plainValue(node: Located): unknown {
  switch (node.kind) {
    case "scalar":
      return node.text;
    case "null":
      return null;
    case "list":
      return node.items.map(plainValue);
    case "map":
      return Object.fromEntries(
        [...node.entries].map(([key, { value }]) => [key, plainValue(value)]),
      );
  }
}

/** The value that a leaf of a schema validates. */
export function leafValue(schema: z.ZodType, node: Located): unknown {
  // A value that no leaf accepts, so that the leaf's message says what it expects.
  if (node.kind !== "scalar") return node.kind === "list" ? [] : {};
  if (schema instanceof z.ZodBoolean) return booleanOf(node) ?? node.value;
  return node.value;
}

/** The boolean a scalar means: yes, no, on and off too where they are not quoted. */
export function booleanOf(node: Located): boolean | undefined {
  if (node.kind !== "scalar") return undefined;
  if (typeof node.value === "boolean") return node.value;
  if (!node.plain) return undefined;
  const word = node.text.toLowerCase();
  if (word === "yes" || word === "on") return true;
  return word === "no" || word === "off" ? false : undefined;
}

/** The first message of a schema about an invalid value. */
export function firstMessage(schema: z.ZodType, value: unknown): string {
  const parsed = schema.safeParse(value);
  return parsed.success ? "unusable value" : parsed.error.issues[0]?.message ?? "unusable value";
}
