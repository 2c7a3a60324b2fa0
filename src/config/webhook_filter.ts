import { compilePattern, type Pattern } from "./pattern.ts";
import type { Checked } from "./checked.ts";

/**
 * Compiles a `webhook_filter` (RE2). It matches anywhere in its text unless it is anchored; the text
 * is tried in full and in short form by {@link passesWebhookFilter}.
 */
export function compileWebhookFilter(pattern: string): Checked<Pattern> {
  return compilePattern(pattern);
}

/**
 * True when a reference passes a filter: it matches in the full reference or in the short name of
 * the branch or tag. An empty filter lets everything pass, a broken one nothing.
 */
export function passesWebhookFilter(filter: string, reference: string): boolean {
  if (filter === "") return true;
  const compiled = compileWebhookFilter(filter);
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
