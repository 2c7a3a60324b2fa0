import { readMark } from "../mark.ts";

/**
 * The stack that a config or secret with these labels was made for, as words; `undefined` for what the
 * stack of this name has by one of `sources`, and for what no stack has. Where a person handed all of that
 * over, these are `undefined`: then all that was made for the name is its.
 */
export function madeForOther(
  labels: Readonly<Record<string, string>>,
  stack: string,
  sources: ReadonlySet<string> | undefined,
): string | undefined {
  const { stack: owner, maker, configuration } = readMark(labels);
  if (owner !== stack) return owner === "" ? undefined : `stack ${owner}`;
  // Older versions named no source.
  const isOwn = maker !== "stackwright" || configuration === undefined ||
    sources?.has(configuration) !== false;
  return isOwn ? undefined : `stack ${owner} of ${configuration}`;
}
