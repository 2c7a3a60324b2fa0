import { posix } from "node:path";
import type { ComposeInclude } from "../config/compose_paths.ts";
import type { Files } from "../system/mod.ts";

/** How a chain of includes led to a compose file. */
export interface IncludeChain {
  /** Whether one of them has a `project_directory`. */
  readonly hasDirectory: boolean;
  /** Whether a path of one of them begins with `..`. */
  readonly climbs: boolean;
}

/** The chain of a file that nothing includes. */
export const NOT_INCLUDED: IncludeChain = { hasDirectory: false, climbs: false };

/** The chain with an include of these paths, which are interpolated. */
export function longerChain(
  { hasDirectory, climbs }: IncludeChain,
  paths: readonly string[],
  projectDirectory: string,
): IncludeChain {
  return {
    hasDirectory: hasDirectory || projectDirectory !== "",
    climbs: climbs ||
      [...paths, projectDirectory].some((path) => /^\.\.(?:\/|$)/.test(posix.normalize(path))),
  };
}

/** The places of a path in each of the directories, one at a time: together they may take gigabytes. */
export function* joined(directories: readonly string[], path: string): Generator<string, void> {
  for (const directory of directories) yield posix.join(directory, path);
}

/**
 * Every one of the directories, one at a time, and each as it would lie if it were relative to another of them instead
 * of to `directory`: below an include with a `project_directory`, compose keeps paths that are relative
 * to where it runs, and puts them behind other directories once more.
 */
export function* placedAgain(
  directories: readonly string[],
  directory: string,
): Generator<string, void> {
  const below = directories.map((each) => posix.relative(directory, each));
  for (const from of directories) {
    for (const each of below) yield posix.join(from, each);
  }
}

/** The directories that an include names, as they lie from where compose runs. */
export function placesFrom(directory: string, include: ComposeInclude): string[] {
  const { paths: [first = ""], projectDirectory: own } = include;
  return [posix.dirname(first), own, posix.dirname(own)].map((each) => posix.join(directory, each));
}

/** The kind of what is at a place once its links are followed. */
export async function kindAt(files: Pick<Files, "realPath" | "stat">, place: string) {
  const real = await files.realPath(place);
  return real === undefined ? undefined : (await files.stat(real))?.kind;
}
