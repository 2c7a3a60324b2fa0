import { signsIn } from "../config/mod.ts";
import { errors } from "../model/mod.ts";

/**
 * Limits for a release's record beside its model, at least ten times the largest known projects:
 * the record is read at every check of the source.
 */
export const RECORDED_BOUNDS = {
  /** Paths of its repository that a deployment reads or mounts, existing or not. */
  paths: { most: 5_000, characters: 512 * 1024 },
  /** Files below directories that containers may write to. */
  files: { most: 50_000, characters: 4 * 1024 * 1024 },
} as const;

/** A counter for paths of a release that throws `config_invalid` at the first one beyond the limits. */
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

/**
 * YAML signs of all compose files of a deployment together: each takes some microseconds in which nothing
 * else happens, and every file is read twice.
 */
const MOST_SIGNS = 400_000;

/** Makes a counter for the compose files of a deployment, which throws `config_invalid` beyond the limit. */
export function countSigns(): (text: string) => void {
  let signs = 0;
  return (text) => {
    signs += signsIn(text);
    if (signs <= MOST_SIGNS) return;
    throw errors.config_invalid(
      `the compose files of the deployment have more than ${MOST_SIGNS} signs such as colons, commas, ` +
        "quotes and line ends together: make several deployments of it, or include each file once",
    );
  };
}
