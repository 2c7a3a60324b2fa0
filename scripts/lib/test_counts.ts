/** Tests of a run, by how they ended. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Nothing counted yet. */
export const NO_TESTS: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The sum of both. */
export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}

/** The line a run closes with. */
export function countsLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Counts the cases of a JUnit report written by `deno test`. A `describe` is a case there too, with
 * its tests as steps called `describe > test`: only the leaves are counted.
 */
export function countJunit(report: string): Counts {
  const cases = [...report.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>([^]*?)<\/testcase>)/g)];
  const groups = new Set(cases.flatMap(([, name]) => enclosing(name ?? "")));
  let counts = NO_TESTS;
  for (const [, name = "", body = ""] of cases) {
    if (groups.has(name)) continue;
    const failed = body.includes("<failure") || body.includes("<error");
    const skipped = body.includes("<skipped");
    counts = addCounts(counts, {
      passed: failed || skipped ? 0 : 1,
      failed: failed ? 1 : 0,
      skipped: skipped && !failed ? 1 : 0,
    });
  }
  return counts;
}

/** The names of all groups around a case: `a > b > c` is in `a` and `a > b`. */
function enclosing(name: string): string[] {
  const parts = name.split(" &gt; ");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(" &gt; "));
}

/** Counts from the summary `bun test` ends with: lines like ` 12 pass`, ` 1 skip`, ` 0 fail`. */
export function countBun(output: string): Counts {
  const last = (word: string) => {
    const lines = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))];
    return Number(lines.at(-1)?.[1] ?? 0);
  };
  return { passed: last("pass"), failed: last("fail"), skipped: last("skip") + last("todo") };
}
