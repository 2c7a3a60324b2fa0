import type { Report } from "./problem_sink.ts";

/** A rule's answer: the normalised value, or what is wrong as a sentence without the value itself. */
export type Checked<T> = { readonly value: T } | { readonly problem: string };

/** The value where it is right; what is wrong is reported, and there is none. */
export function accept<T>(checked: Checked<T>, path: string, report: Report): T | undefined {
  if ("value" in checked) return checked.value;
  report(path, checked.problem);
  return undefined;
}
