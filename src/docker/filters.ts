import { createSharing } from "../system/mod.ts";
import type { Query } from "./api_request.ts";
import type { EntryReading } from "./answer.ts";
import type { LabelFilter } from "./engine_facts.ts";
import type { Json, JsonRecord } from "./json.ts";
import { whoseLabels } from "./told.ts";

/** Label filters for a query of the Engine API; no filter without labels. */
export function labelFilters(labels: LabelFilter): Query {
  const label = labelTexts(labels);
  return label.length === 0 ? {} : { filters: { label } };
}

/** `key` or `key=value` for each required label. */
export function labelTexts(labels: LabelFilter): string[] {
  return Object.entries(labels).map(([key, value]) =>
    value === undefined ? key : `${key}=${value}`
  );
}

/**
 * The names that entries with these labels count for, in a list that is asked for by `filter`; none where
 * that asks for the things of somebody, which are told as a whole or not at all.
 */
export function everybodys(
  filter: LabelFilter,
  labels: (entry: JsonRecord) => Json | undefined,
): Pick<EntryReading<unknown>, "whose"> {
  return isEverybodys(filter) ? { whose: (entry) => whoseLabels(labels(entry)) } : {};
}

/** Whether a list that is asked for by `filter` has the things of everybody. */
export function isEverybodys(filter: LabelFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/**
 * The calls of `list`, of which those for everybody's things are shared by all who ask: what others made
 * decides how long each is. No list is from before the call, and nobody's is changed by another.
 */
export function sharingLists<T>(
  list: (filter: LabelFilter, signal: AbortSignal) => Promise<readonly T[]>,
): (filter: LabelFilter, signal: AbortSignal) => Promise<T[]> {
  const shared = createSharing<readonly T[]>();
  return async (filter, signal) => {
    const make = (within: AbortSignal) => list(filter, within);
    if (!isEverybodys(filter)) return [...await make(signal)];
    return [...await shared.ask(labelTexts(filter).join(), make, signal)];
  };
}
