import { formatStackKey } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";
import type { Target } from "./target.ts";

/** Notes what a preparation has found on the engine, or brought there: its builds may take long yet. */
export function noteAhead(
  { imagesAhead }: Pick<PrepareParts, "imagesAhead">,
  { key }: Pick<Target, "key">,
  ids: readonly string[],
): void {
  const ahead = imagesAhead.getOrInsertComputed(formatStackKey(key), () => new Set());
  for (const each of ids) ahead.add(each);
}
