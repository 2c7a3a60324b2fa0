import { compilePattern } from "./pattern.ts";

/**
 * True when a reference passes a filter (RE2): it matches anywhere in the full reference, or in the
 * short name of the branch or tag. An empty filter lets everything pass, a broken one nothing.
 */
export function passesWebhookFilter(filter: string, reference: string): boolean {
  if (filter === "") return true;
  const compiled = compilePattern(filter);
  if ("problem" in compiled) return false;
  return compiled.value.test(reference) || compiled.value.test(shortReference(reference));
}

/**
 * `main` of `refs/heads/main`, `v1` of `refs/tags/v1`; any other text as it is, and so is
 * `refs/heads/refs/tags/v1`: a branch must not pass for a tag.
 */
export function shortReference(reference: string): string {
  return reference.replace(/^refs\/(?:heads|tags)\/(?!refs\/)/, "");
}
