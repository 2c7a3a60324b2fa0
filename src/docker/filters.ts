import type { Query } from "./api_request.ts";
import type { LabelFilter } from "./engine_facts.ts";

/** Label filters as the Engine API takes them in a query; none at all when there are none. */
export function labelFilters(labels: LabelFilter): Query {
  const label = labelTexts(labels);
  return label.length === 0 ? {} : { filters: { label } };
}

/** `key` or `key=value` for each label that must be there. */
export function labelTexts(labels: LabelFilter): string[] {
  return Object.entries(labels).map(([key, value]) =>
    value === undefined ? key : `${key}=${value}`
  );
}
