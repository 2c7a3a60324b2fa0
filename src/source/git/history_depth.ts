/**
 * The depth of the history of `tip` in a shallow mirror: the distance to the nearest
 * commit whose parents were not fetched, counted from 1; infinite when there is none.
 *
 * `listing` is the output of `git rev-list --parents <tip>`, `shallow` the content of git's list of
 * such commits.
 */
export function reachedDepth(tip: string, listing: string, shallow: string): number {
  const cut = new Set(shallow.split(/\s+/).filter((id) => id !== ""));
  const parents = new Map<string, readonly string[]>();
  for (const line of listing.split("\n")) {
    const [id = "", ...rest] = line.split(" ");
    if (id !== "") parents.set(id, rest);
  }
  const seen = new Set([tip]);
  let level = [tip];
  for (let depth = 1; level.length > 0; depth++) {
    if (level.some((id) => cut.has(id))) return depth;
    const next = level.flatMap((id) => parents.get(id) ?? []).filter((id) => !seen.has(id));
    level = [...new Set(next)];
    for (const id of level) seen.add(id);
  }
  return Number.POSITIVE_INFINITY;
}
