import type { Redactor } from "../system/mod.ts";

/** The value with every text in its own fields redacted. */
export function redactTexts<T extends object>(value: T, redactor: Redactor): T {
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    typeof field === "string" ? redactor.redact(field) : field,
  ]);
  return Object.fromEntries(entries) as T;
}
