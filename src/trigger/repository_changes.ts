import { basename, dirname, join, resolve } from "node:path/posix";
import { messageOf } from "../model/mod.ts";
import { type Files, readText } from "../system/mod.ts";

/** Most names of references that are looked at one by one; beyond, their directories tell. */
const MOST_NAMES = 2000;

/** A text that is another one after branches or tags of a repository changed; never rejects. */
export type LookAtRepository = () => Promise<string>;

/**
 * Looks at the references of a repository on this machine: bare, with a checkout, or a checkout that
 * is linked to one elsewhere. Every look asks the disk, so that it also works where the system tells
 * of no changes, as on network file systems. What cannot be looked at is a text as well: it is
 * another one as soon as it can be.
 */
export function lookAtRepository(files: Files, path: string): LookAtRepository {
  return async () => {
    try {
      const places = await gitDirectories(files, path);
      if (places === undefined) return "nothing there";
      const { own, shared } = places;
      const single = [join(own, "HEAD"), join(shared, "packed-refs")];
      single.push(join(shared, "reftable/tables.list"));
      const lines = await Promise.all(single.map((file) => stateOf(files, file)));
      for (const kind of ["heads", "tags"]) await collect(files, join(shared, "refs", kind), lines);
      return lines.join("\n");
    } catch (error) {
      return `unreadable: ${messageOf(error)}`;
    }
  };
}

/** Directories of `HEAD` and of the references; the same but for linked checkouts. */
async function gitDirectories(
  files: Files,
  path: string,
): Promise<{ readonly own: string; readonly shared: string } | undefined> {
  for (const place of [join(path, ".git"), path, `${path}.git`]) {
    const kind = (await files.stat(await files.realPath(place) ?? place))?.kind;
    if (kind === "file") {
      const [, target = ""] = /^gitdir: (.+?)\s*$/m.exec(await readText(files, place) ?? "") ?? [];
      const own = resolve(dirname(place), target);
      const common = (await readText(files, join(own, "commondir")) ?? "").trim();
      return { own, shared: common === "" ? own : resolve(own, common) };
    }
    const isGit = kind === "directory" && await files.stat(join(place, "HEAD")) !== undefined;
    if (isGit) return { own: place, shared: place };
  }
  return undefined;
}

async function collect(files: Files, directory: string, lines: string[]): Promise<void> {
  lines.push(await stateOf(files, directory));
  if ((await files.stat(directory))?.kind !== "directory") return;
  for (const name of await files.list(directory)) {
    if (name.endsWith(".lock")) continue;
    const path = join(directory, name);
    const isDirectory = (await files.stat(path))?.kind === "directory";
    if (isDirectory) await collect(files, path, lines);
    else if (lines.length < MOST_NAMES) lines.push(await stateOf(files, path));
  }
}

/** State of a file or directory as it is seen without reading it. */
async function stateOf(files: Files, path: string): Promise<string> {
  const info = await files.stat(path);
  const facts = info === undefined ? "-" : `${info.size} ${info.modifiedAt.getTime()}`;
  return `${basename(path)} ${facts}`;
}
