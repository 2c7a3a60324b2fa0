import type { SourceFailureView } from "../api/mod.ts";
import { headline } from "./headline.ts";

/** A line on a source that cannot be read: since when, why, and when the next try is. */
export function failedSource(
  { repository, reference, target, since, why, retry_at: again }: SourceFailureView,
  time: (text: string) => string,
): string {
  const which = target === "" ? reference : `${reference}, target ${target}`;
  const next = again === undefined
    ? "; not tried again until a webhook or a person asks"
    : `; next try ${time(again)}`;
  return `source ${repository} (${which}) cannot be read since ${time(since)}: ` +
    `${headline(why)}${next}`;
}
