import { isStackwrightError, ofSource, type SourceRequest } from "../../model/mod.ts";
import { requestLocation } from "../resolve_revision.ts";

/**
 * Throws what the work on sources of a run threw. A run of several has no single source that its texts are
 * about, so each error names its own; a bad URL names none.
 */
export function throwFailures(
  requests: readonly SourceRequest[],
  results: readonly PromiseSettledResult<unknown>[],
): void {
  const failures = results.flatMap((each, at) => {
    const request = requests[at];
    if (each.status === "fulfilled" || request === undefined) return [];
    const isOne = requests.length === 1 || isStackwrightError(each.reason, "bad_request");
    return [isOne ? each.reason : ofSource(each.reason, requestLocation(request).name)];
  });
  if (failures.length === 0) return;
  throw requests.length === 1 ? failures[0] : new AggregateError(failures);
}
