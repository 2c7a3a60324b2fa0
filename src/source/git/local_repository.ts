import { dirname, resolve } from "node:path/posix";
import { errors, type StackwrightError, utf8 } from "../../model/mod.ts";
import type { Files } from "../../system/mod.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/**
 * Refuses a repository on this machine that lies in one of the data directories, or leads git into one, links
 * resolved: whoever may name a repository could read the mirrors of other sources there. Other URLs pass.
 *
 * Throws `forbidden`.
 */
export async function refuseOwnData(
  files: Files,
  url: RepositoryUrl,
  dataDirs: readonly string[],
): Promise<void> {
  if (url.scheme !== "file") return;
  const real = await Promise.all(dataDirs.map((each) => files.realPath(each)));
  const own = [...dataDirs, ...real.filter((path) => path !== undefined)];
  const led = await placesLedTo(files, url);
  for (const path of [url.remote, ...await realPlaces(files, url), ...led]) {
    if (!own.some((each) => isAtOrBelow(path, each))) continue;
    throw errors.forbidden(
      `the repository ${url.remote} lies in the data directory of Stackwright (DATA_DIR), ` +
        `${led.includes(path) ? "where its .git file or commondir leads, " : ""}which is no source`,
    );
  }
}

/**
 * Refuses a submodule on this machine that, links resolved, does not lie below `root`, the directory
 * around its source, or that lies in a checkout: the authors of a checkout could commit files that
 * form a repository and borrow the objects of any other (`objects/info/alternates`).
 *
 * Throws `forbidden`.
 */
export async function refuseOutsideRoot(
  files: Files,
  url: RepositoryUrl,
  root: string,
): Promise<void> {
  const top = await files.realPath(root);
  if (top === undefined) return;
  for (const place of await realPlaces(files, url)) {
    const isInside = isAtOrBelow(place, top) && place !== top;
    if (!isInside || (await files.stat(place))?.kind !== "directory") {
      throw outside(url, `it does not lead to a directory below ${root}`);
    }
    const checkout = await checkoutAround(files, place, top);
    if (checkout === undefined) continue;
    throw outside(url, `it lies in the checkout ${checkout}, where authors can put anything`);
  }
}

/**
 * Real paths that git may use for the repository, with and without `.git`. Leaves out paths that this
 * user may not read: git runs as the same user and fails on them.
 */
async function realPlaces(files: Files, { remote }: RepositoryUrl): Promise<string[]> {
  const found = await Promise.all(
    [remote, `${remote}.git`].map((path) => files.realPath(path).catch(() => undefined)),
  );
  return found.filter((path) => path !== undefined);
}

/** Most bytes of a file that git takes for a path. */
const MOST_OF_PATH = 1024 * 1024;

/** Real paths of the directories to which `.git` files and `commondir` lead git from the repository. */
async function placesLedTo(files: Files, { remote }: RepositoryUrl): Promise<string[]> {
  const real = (path: string) => files.realPath(path).catch(() => undefined);
  const read = async (path: string | undefined) => {
    const file = path && await files.readPlain(path, MOST_OF_PATH).catch(() => undefined);
    return file ? utf8(file.data).replace(/[\r\n]+$/, "") : "";
  };
  const led = async (place: string) => {
    const [, target = "."] = /^gitdir: (.+)$/s.exec(await read(await real(place))) ?? [];
    const around = await real(target === "." ? place : dirname(place));
    const own = around && await real(resolve(around, target));
    if (!own) return [];
    const common = await read(await real(`${own}/commondir`));
    const shared = common && await real(resolve(own, common));
    return [target === "." ? "" : own, shared ?? ""].filter((path) => path !== "");
  };
  const places = [remote, `${remote}/.git`, `${remote}.git`, `${remote}.git/.git`];
  return (await Promise.all(places.map(led))).flat();
}

/** The nearest checkout that a directory lies in, looking no further up than `top`. */
async function checkoutAround(files: Files, place: string, top: string) {
  for (let at = dirname(place); isAtOrBelow(at, top); at = dirname(at)) {
    if (await files.stat(`${at}/.git`) !== undefined) return at;
    if (at === "/") return undefined;
  }
  return undefined;
}

function outside(url: RepositoryUrl, why: string): StackwrightError {
  return errors.forbidden(`the repository ${url.remote} cannot be a submodule: ${why}`);
}

function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
}
