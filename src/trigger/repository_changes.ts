import { basename, dirname, join, resolve } from "node:path/posix";
import { messageOf } from "../model/mod.ts";
import { type Files, readText } from "../system/mod.ts";

/**
 * Most names of branches, and of tags, to look at one by one. Of more, only the times of the directories
 * that are among them count: a look each two seconds must not keep a processor.
 */
const MOST_NAMES = 2000;

/** Returns a text that changes whenever branches or tags of a repository do; never rejects. */
export type LookAtRepository = () => Promise<string>;

/**
 * Detects changes of the references of a repository on this machine: bare, with a checkout, or a
 * linked checkout. Every look asks the disk, so that it also works on network file systems, which
 * announce no changes. Failures yield a text as well, which changes as soon as the repository can
 * be read.
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
      for (const kind of ["heads", "tags"]) {
        const found: string[] = [];
        await collect(files, join(shared, "refs", kind), found);
        lines.push(...found);
      }
      return lines.join("\n");
    } catch (error) {
      return `unreadable: ${messageOf(error)}`;
    }
  };
}

/** Most bytes of a file that holds a path. */
const MOST_OF_PATH = 8192;

/** Directories of `HEAD` and of the references; they differ for linked checkouts only. */
async function gitDirectories(
  files: Files,
  path: string,
): Promise<{ readonly own: string; readonly shared: string } | undefined> {
  for (const place of [join(path, ".git"), path, `${path}.git`]) {
    const kind = (await files.stat(await files.realPath(place) ?? place))?.kind;
    if (kind === "file") {
      const text = await readText(files, place, MOST_OF_PATH) ?? "";
      const [, target = ""] = /^gitdir: (.+?)\s*$/m.exec(text) ?? [];
      const own = resolve(dirname(place), target);
      const common = (await readText(files, join(own, "commondir"), MOST_OF_PATH) ?? "").trim();
      return { own, shared: common === "" ? own : resolve(own, common) };
    }
    const isGit = kind === "directory" && await files.stat(join(place, "HEAD")) !== undefined;
    if (isGit) return { own: place, shared: place };
  }
  return undefined;
}

/** Adds what a name and all below it are, up to {@link MOST_NAMES} lines. */
async function collect(files: Files, path: string, lines: string[]): Promise<void> {
  const info = await files.stat(path);
  lines.push(stateIn(path, info));
  if (info?.kind !== "directory") return;
  for (const name of await files.list(path)) {
    if (lines.length >= MOST_NAMES) return;
    if (!name.endsWith(".lock")) await collect(files, join(path, name), lines);
  }
}

/** Size and time of a file or directory. */
async function stateOf(files: Files, path: string): Promise<string> {
  return stateIn(path, await files.stat(path));
}

function stateIn(path: string, info: Awaited<ReturnType<Files["stat"]>>): string {
  const facts = info === undefined ? "-" : `${info.size} ${info.modifiedAt.getTime()}`;
  return `${basename(path)} ${facts}`;
}
