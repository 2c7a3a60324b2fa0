import { dirname, join } from "node:path";
import { asPrinted, isObject } from "../compose/mod.ts";
import { type ReleaseOnDisk, stackDirectories } from "../deploy/mod.ts";
import { isStackwrightError, type Release, StackwrightError } from "../model/mod.ts";
import { SILENT_LOG } from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";
import { requireSafeModel } from "./path_safety.ts";

/**
 * Checks a recorded release as if it were rendered now, since checks may have become stricter. The
 * files that its rendering read are unknown by now. One without a number was checked before something
 * slow, such as a build: what its mounts lead to may have changed, and warnings were given then.
 *
 * Throws what {@link requireSafeModel} throws, with what to do about one that was deployed before.
 */
export async function requireSafeRelease(
  parts: PrepareParts,
  { release, tree }: Pick<ReleaseOnDisk, "release" | "tree">,
  number: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { key, swarm } = release;
  const target = { key, ...(swarm === undefined ? {} : { swarm }) };
  const judging = number === undefined ? { ...parts, log: SILENT_LOG } : parts;
  try {
    // A kept release may have paths in the tree of an earlier commit, so all trees are allowed.
    const trees = dirname(tree);
    await requireSafeModel(judging, target, inTree(parts, release, tree), trees, signal);
  } catch (error) {
    if (number === undefined || !isRefusal(error)) throw error;
    const { code, message } = error as StackwrightError;
    throw new StackwrightError(
      code,
      `release ${number} was deployed before this was refused, and is not brought back: ${message}; ` +
        "mend it in its repository and deploy that, or roll back to another release",
      { cause: error },
    );
  }
}

const REFUSED = ["path_escapes", "unsupported", "config_invalid"] as const;

/** Whether an error means that a release would be refused today at every attempt. */
export function isRefusal(error: unknown): boolean {
  return REFUSED.some((code) => isStackwrightError(error, code));
}

/** The model with paths of the stack's own directories replaced by paths of the tree. */
function inTree(parts: PrepareParts, release: Release, tree: string): Release["model"] {
  const { current, live } = stackDirectories(parts.host.dataDir, release.key);
  const own = [current, live].map((each) => asPrinted(join(each, "/")));
  const back = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(back);
    if (isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, back(each)]));
    }
    if (typeof value !== "string") return value;
    const at = own.find((each) => `${value}/`.startsWith(each));
    return at === undefined ? value : join(asPrinted(tree), value.slice(at.length));
  };
  return back(release.model) as Release["model"];
}
