import { errors, partsOfPath } from "../../model/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { AT_ONCE } from "../git/tree_object.ts";

/** Links after which the kernel gives up and fails. */
const MOST_HOPS = 40;
/** Most bytes of a link's target on Linux. */
const LONGEST_TARGET = 4095;
/** Links of a tree, and bytes of all of their targets: one object can be the target of any number. */
const MOST_LINKS = 20_000;
const MOST_TARGET_BYTES = 2 * 1024 * 1024;
/**
 * Characters of paths that are looked up for all links together, their own included: links that lead
 * through each other multiply the work. The largest allowed number of ordinary links needs half of it.
 */
const MOST_LOOKED_UP = 5_000_000;
/** Cost of one step, up or down, beside the length of the path, in the same unit. */
const STEP = 10;

/** Throws `source_invalid` for too many or too long links, before the targets are read. */
export function checkLinkSizes(sizes: ReadonlyMap<string, number>): void {
  let bytes = 0;
  for (const [path, size] of sizes) {
    bytes += size;
    if (size > LONGEST_TARGET) {
      const link = `the symbolic link ${JSON.stringify(path)}`;
      throw errors.source_invalid(`${link} has a target of ${size} bytes`);
    }
  }
  if (sizes.size <= MOST_LINKS && bytes <= MOST_TARGET_BYTES) return;
  throw errors.source_invalid(
    `the tree has ${sizes.size} symbolic links with targets of ${bytes} bytes, the most are ` +
      `${MOST_LINKS} with ${MOST_TARGET_BYTES}; deploy from a smaller repository`,
  );
}

/**
 * Makes sure that no symbolic link of a tree leads out of it: not by an absolute target, not by its
 * text, cut off or not, and not through other links on its way. Links that lead nowhere or in circles stay.
 *
 * `links` holds targets by the path of the link. Throws `path_escapes` with the link and its target, and
 * `source_invalid` when links lead through each other so often, or have paths so long, that it takes too
 * long to find out. Pauses during many.
 */
export async function checkLinks(links: ReadonlyMap<string, string>): Promise<void> {
  const pauses = createPauses(AT_ONCE);
  const budget = { characters: MOST_LOOKED_UP };
  const targets = new Map<string, readonly string[] | undefined>();
  for (const [path, target] of links) {
    targets.set(path, target.startsWith("/") ? undefined : partsOfPath(target));
    await pauses.after(target.length);
  }
  for (const [path, target] of links) {
    pay(budget, path.length);
    const at = path.split("/").slice(0, -1);
    const parts = targets.get(path) ?? [];
    const why = target === ""
      ? "is empty"
      : target.startsWith("/")
      ? "is absolute"
      : target.includes("\0")
      // Git writes the part before it, so that `..` and a NUL is a plain name here and climbs on disk.
      ? "holds a NUL character"
      : climbsOut(at.length, parts)
      ? "leaves the source"
      : walk(at, parts, targets, budget) === "outside"
      ? "leaves the source through another link"
      : undefined;
    await pauses.after(path.length + target.length);
    if (why === undefined) continue;
    throw errors.path_escapes(
      `the symbolic link ${JSON.stringify(path)} points to ${JSON.stringify(target)}, which ` +
        `${why}; links must stay inside the repository`,
    );
  }
}

/** Whether a target leaves the tree from so many directories below its root, if no name in it is a link. */
function climbsOut(depth: number, target: readonly string[]): boolean {
  return target.some((part) => (depth += part === ".." ? -1 : 1) < 0);
}

/**
 * Resolves a link's target as the kernel would, part by part, from the directories `at`, which it changes.
 * `links` holds the parts of targets by the path of the link; a target that is absolute has none.
 */
function walk(
  at: string[],
  target: readonly string[],
  links: ReadonlyMap<string, readonly string[] | undefined>,
  budget: { characters: number },
): "inside" | "outside" {
  const ahead = target.toReversed();
  for (let hops = 0; ahead.length > 0;) {
    const part = ahead.pop() ?? "";
    if (part === "..") {
      pay(budget, STEP);
      if (at.pop() === undefined) return "outside";
      continue;
    }
    at.push(part);
    const place = at.join("/");
    pay(budget, place.length + STEP);
    if (!links.has(place)) continue;
    const next = links.get(place);
    if (next === undefined) return "outside";
    if (++hops > MOST_HOPS) return "inside";
    at.pop();
    pay(budget, next.length);
    ahead.push(...next.toReversed());
  }
  return "inside";
}

function pay(budget: { characters: number }, characters: number): void {
  budget.characters -= characters;
  if (budget.characters >= 0) return;
  throw errors.source_invalid(
    "the symbolic links have too long paths, or lead through each other too often; let them lead to " +
      "files directly",
  );
}
