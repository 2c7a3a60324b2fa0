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
  if (Object.values(filter).some((value) => value !== undefined)) return {};
  return { whose: (entry) => whoseLabels(labels(entry)) };
}
