import { formatRevision, type RunReporter, type TargetListener } from "../model/mod.ts";

/** Says of a run about one stack which repository and revision that is of. */
export function describing(reporter: Pick<RunReporter, "describe">): TargetListener {
  return ({ repository }) => ({ kind, revision }) => {
    if (kind !== "decided") return;
    reporter.describe({ repository, revision: formatRevision(revision), message: "" });
  };
}
