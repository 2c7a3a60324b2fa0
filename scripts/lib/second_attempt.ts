import type { Failure } from "./test_failures.ts";
import type { Stage } from "./test_stages.ts";

/** Failures of a whole run that are worth another attempt; more of them are no accident. */
const ACCIDENTS = 3;

/**
 * Whether what failed is so little that it may have been the load: a few tests in known files. `stages` has
 * the failures of each stage that failed; one that names none ended in another way.
 */
export function mayBeLoad(stages: readonly (readonly Failure[])[]): boolean {
  const failures = stages.flat();
  return stages.every(({ length }) => length > 0) && failures.length <= ACCIDENTS &&
    failures.every(({ file }) => file !== undefined);
}

/**
 * The stage with only the files in which tests failed, to be run when nothing runs beside it. Tests that
 * wait for containers or clients have limits of time, which a machine with too much to do exceeds.
 */
export function secondAttempt(stage: Stage, failures: readonly Failure[]): Stage {
  const files = new Set(failures.map(({ file = "" }) => file.replace(/^\.\//, "")));
  const options = stage.argv.filter((word) => !/^(?:\.\/)?test\//.test(word));
  // Bun takes a path without ./ as a part of names.
  return { ...stage, argv: [...options, ...[...files].map((file) => `./${file}`)], together: [] };
}
