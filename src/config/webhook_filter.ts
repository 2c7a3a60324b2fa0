import { compilePattern } from "./pattern.ts";

/**
 * True when one of the names of a reference passes a filter (RE2): it matches anywhere in the name, or
 * in its short form. An empty filter lets everything pass, a broken one nothing. May take 0.1 s.
 */
export function passesWebhookFilter(filter: string, names: readonly string[]): boolean {
  if (filter === "") return true;
  const compiled = compilePattern(filter);
  if ("problem" in compiled) return false;
  const all = new Set(names.flatMap((name) => [name, shortReference(name)]));
  return [...all].some((name) => compiled.value.test(name));
}

/**
 * `main` of `refs/heads/main`, `v1` of `refs/tags/v1`; any other text as it is, and so is
 * `refs/heads/refs/tags/v1`: a branch must not pass for a tag.
 */
export function shortReference(reference: string): string {
  return reference.replace(/^refs\/(?:heads|tags)\/(?!refs\/)/, "");
}
