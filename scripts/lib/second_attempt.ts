import type { Failure } from "./test_failures.ts";
import type { Stage } from "./test_stages.ts";

/** Failures of a whole run that are worth another attempt; more of them are no accident. */
const ACCIDENTS = 3;

/**
 * Which of the stages that failed get another attempt, by their places: those with a few failures in known
 * files, which may have been the load, the fewest first, for as long as they are few together. `stages` has
 * the failures of each; one that names none ended in another way, and takes nothing from the others.
 */
export function worthAnother(stages: readonly (readonly Failure[])[]): number[] {
  const named = stages.flatMap((failures, place) =>
    failures.length > 0 && failures.every(({ file }) => file !== undefined)
      ? [{ place, count: failures.length }]
      : []
  ).sort((a, b) => a.count - b.count);
  const chosen: number[] = [];
  let left = ACCIDENTS;
  for (const { place, count } of named) {
    left -= count;
    if (left < 0) break;
    chosen.push(place);
  }
  return chosen.sort((a, b) => a - b);
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
