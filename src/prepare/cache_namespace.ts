import type { PrepareParts } from "./parts.ts";
import type { Target } from "./target.ts";

/**
 * The name before the ids of a target's build caches, so that no build of another repository sees them,
 * or puts something there. The author of the configuration chooses the arguments of the build, and so
 * its frontend, that of the repository all else. Keyed, since a frontend may name any cache.
 */
export function cacheNamespace(
  { key }: Pick<PrepareParts, "key">,
  { configuration, revision }: Pick<Target, "configuration" | "revision">,
  own: string,
): string {
  const names = [configuration.source.name, revision.source.name, own];
  // No text of an author has a zero byte, so that none has this digest.
  return key.digest(`caches of builds\0${JSON.stringify(names)}`);
}
