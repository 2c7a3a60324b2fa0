import { readMark } from "../mark.ts";

/**
 * The stack that a config or secret with these labels was made for, as words; `undefined` for what the
 * stack of this name has, and for what no stack has. Where a person handed that over, `source` is none:
 * then all that was made for the name is its.
 */
export function madeForOther(
  labels: Readonly<Record<string, string>>,
  stack: string,
  source: string | undefined,
): string | undefined {
  const { stack: owner, maker, configuration } = readMark(labels);
  if (owner !== stack) return owner === "" ? undefined : `stack ${owner}`;
  // Older versions named no source.
  const isOwn = maker !== "stackwright" || configuration === undefined || source === undefined ||
    configuration === source;
  return isOwn ? undefined : `stack ${owner} of ${configuration}`;
}
