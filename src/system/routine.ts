/**
 * What is said of each stack at each look, or of each job at the start, although nothing happens. All
 * are words of ours: for them, the releases of a thousand stacks need not be opened after a start.
 */
const ROUTINE: ReadonlySet<string> = new Set([
  "job scheduled",
  "looking at what runs",
  "no changes",
  "rendering",
]);

/** True without a message, or for that of a routine: nothing beside it comes from an engine. */
export function isRoutine(message: string | undefined): boolean {
  return message === undefined || ROUTINE.has(message);
}
