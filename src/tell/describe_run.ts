import { formatRevision, type RunReporter, type TargetListener } from "../model/mod.ts";

/** Sets the repository and revision of a run about one stack. */
export function describing(reporter: Pick<RunReporter, "describe">): TargetListener {
  return ({ repository }) => ({ kind, revision }) => {
    if (kind !== "decided") return;
    reporter.describe({ repository, revision: formatRevision(revision), message: "" });
  };
}
