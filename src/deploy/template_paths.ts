import { join } from "node:path";
import { fitsTemplate } from "../compose/mod.ts";
import { clip, errors, type StackwrightError } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

/** Limit of names that are read for the mounts of one deployment. */
const MOST_NAMES = 20_000;
/** Limit of those among them that fit a template: to look where one leads takes milliseconds. */
const MOST_FITTING = 1000;
/** Limit of the parts of one path, each of which is looked at for each name that fits. */
const MOST_PARTS = 50;

/** The existing paths that a swarm may make of a path; see {@link templatePaths}. */
export type TemplatePaths = (written: string) => Promise<readonly string[]>;

/**
 * Returns a function for the mounts of one deployment, which finds the paths that a swarm may make
 * of a path by evaluating its templates, as far as these fit what exists: links and mounts there
 * lead elsewhere than the written path. There are none without a template.
 *
 * The function throws `path_escapes` for too many paths, and what the file system throws.
 */
export function templatePaths(
  files: Pick<Files, "listAtMost" | "realPath" | "stat">,
): TemplatePaths {
  let [left, fitting] = [MOST_NAMES, MOST_FITTING];
  const namesIn = async (directory: string) => {
    const real = await files.realPath(directory);
    const info = real === undefined ? undefined : await files.stat(real);
    if (real === undefined || info?.kind !== "directory") return [];
    const names = await files.listAtMost(real, left - 1);
    left -= (names?.length ?? 0) + 1;
    return names;
  };
  return async (written) => {
    if (!written.includes("{{")) return [];
    const parts = written.split("/", MOST_PARTS + 1);
    if (parts.length > MOST_PARTS) throw tooMany(written);
    let [found, fixed] = [["/"], ""];
    for (const part of parts) {
      if (!part.includes("{{")) {
        fixed += `${part}/`;
        continue;
      }
      const next: string[] = [];
      for (const at of found) {
        const directory = join(at, fixed);
        const names = await namesIn(directory);
        const fit = names?.filter((name) => fitsTemplate(part, name));
        fitting -= fit?.length ?? 0;
        if (fit === undefined || fitting < 0) throw tooMany(written);
        next.push(...fit.map((name) => join(directory, name)));
      }
      [found, fixed] = [next, ""];
    }
    // What follows the last template may be missing: the engine makes it, even behind a link.
    return found.map((at) => join(at, fixed.slice(0, -1)));
  };
}

function tooMany(written: string): StackwrightError {
  return errors.path_escapes(
    `${clip(written, 200)} may become too many paths to look where each leads: mount from ` +
      `directories with few entries, of which at most ${MOST_FITTING} fit all mounts of a deployment`,
  );
}
