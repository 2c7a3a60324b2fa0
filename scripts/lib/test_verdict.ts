import { type Counts, NO_TESTS } from "./test_counts.ts";
import type { Stage } from "./test_stages.ts";

/** Exit code of a command that could not run its tests, and said why. */
export const NOT_TRIED = 77;

/** How a stage ended: whether it is good, what counts, and what is to be said of it. */
export interface Verdict {
  readonly ok: boolean;
  readonly counts: Counts;
  readonly problem: string | undefined;
}

/**
 * Judgement of a stage by its exit code and its counts. Passing needs exit code 0 and, for tests, that
 * some ran (or were skipped where that may be) and none failed; what was {@link NOT_TRIED} is skipped.
 */
export function judge(
  stage: Pick<Stage, "runner" | "maySkip">,
  code: number,
  counts: Counts,
): Verdict {
  if (code === NOT_TRIED && counts.failed === 0) {
    return { ok: true, counts: { ...NO_TESTS, skipped: 1 }, problem: "NOT TRIED, see above" };
  }
  if (code !== 0 || counts.failed > 0) {
    const failed = Math.max(counts.failed, 1);
    return { ok: false, counts: { ...counts, failed }, problem: `exit code ${code}` };
  }
  const hasRun = counts.passed > 0 || (stage.maySkip === true && counts.skipped > 0);
  if (stage.runner !== "plain" && !hasRun) {
    return { ok: false, counts: { ...counts, failed: 1 }, problem: "ran no test" };
  }
  return { ok: true, counts, problem: undefined };
}
