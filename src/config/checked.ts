import type { Report } from "./problem_sink.ts";

/** Result of a rule: the normalised value, or a sentence about the fault that never quotes the value. */
export type Checked<T> = { readonly value: T } | { readonly problem: string };

/** The value of a valid result; reports the problem of an invalid one and returns `undefined`. */
export function accept<T>(checked: Checked<T>, path: string, report: Report): T | undefined {
  if ("value" in checked) return checked.value;
  report(path, checked.problem);
  return undefined;
}
