import type { Query } from "./api_request.ts";
import type { LabelFilter } from "./engine_facts.ts";

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
