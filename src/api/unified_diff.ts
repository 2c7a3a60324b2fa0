import { createTwoFilesPatch } from "diff";

/** A unified diff of two texts; empty when they are equal. */
export function unifiedDiff(from: string, to: string, before: string, after: string): string {
  if (before === after) return "";
  return createTwoFilesPatch(from, to, before, after, undefined, undefined, { context: 3 })
    .replace(/^=+\n/, "");
}
