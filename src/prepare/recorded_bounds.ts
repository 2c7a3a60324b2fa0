import { errors } from "../model/mod.ts";

/**
 * Bounds of what is recorded of a release beside its model, ten times and more what the largest known
 * projects have: it is read again whenever the source is looked at.
 */
export const RECORDED_BOUNDS = {
  /** What a deployment reads or mounts of its repository, present or not. */
  paths: { most: 5_000, characters: 512 * 1024 },
  /** Files below what containers may write to. */
  files: { most: 50_000, characters: 4 * 1024 * 1024 },
} as const;

/**
 * Counts one path after the other that a release would have: throws `config_invalid` at the first one
 * too many.
 */
export function countPaths(kind: keyof typeof RECORDED_BOUNDS): (path: string) => void {
  const { most, characters } = RECORDED_BOUNDS[kind];
  let [count, length] = [0, 0];
  return (path) => {
    count++;
    length += path.length;
    if (count <= most && length <= characters) return;
    const found = count > most ? `${most} paths` : `${characters} characters of paths`;
    throw errors.config_invalid(
      kind === "paths"
        ? `the deployment names more than ${found} of its repository, there or not: name fewer ` +
          "files, mount a directory instead of each of its files, or make several deployments of it"
        : `the deployment has more than ${found} of files where its containers may write: mount less ` +
          "of the repository, or read-only",
    );
  };
}
