import { formatStackKey, type StackKey, type Sync } from "../../model/mod.ts";
import { keyOf } from "../expand_deployments.ts";
import type { OpenedSource } from "../open_source.ts";

/**
 * The deployments that work is about, without those that other branches' files have (`led`); none where nothing
 * names the one in `only`, which may have to be removed then. Throws why the source is away, where that may name it.
 */
export function meant(
  { expansion, away }: OpenedSource,
  only: Sync["only"],
  led: readonly StackKey[] = [],
): Pick<OpenedSource["expansion"], "deployments" | "failures"> {
  if (only === undefined) {
    const theirs = new Set(led.map(formatStackKey));
    const isOwn = (key: StackKey) => !theirs.has(formatStackKey(key));
    return {
      deployments: expansion.deployments.filter((each) => isOwn(keyOf(each))),
      failures: expansion.failures.filter(({ key }) => isOwn(key)),
    };
  }
  const isMeant = (key: StackKey) => formatStackKey(key) === formatStackKey(only);
  const deployments = expansion.deployments.filter((each) => isMeant(keyOf(each)));
  const failures = expansion.failures.filter(({ key }) => isMeant(key));
  if (deployments.length + failures.length === 0 && away !== undefined) throw away;
  return { deployments, failures };
}
