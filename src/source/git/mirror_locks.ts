import { join } from "node:path/posix";
import type { Files } from "../../system/mod.ts";
import { SEARCH } from "./reference.ts";

/**
 * Removes lock files and half-received packs that a killed git left in a mirror, when `isStale` says
 * so of their time. Fixed directories suffice: our references are flat.
 *
 * Removing the lock of a git that still runs makes that git fail cleanly when it wants to finish.
 */
export async function removeStaleLocks(
  files: Files,
  mirror: string,
  isStale: (madeAt: Date) => boolean,
): Promise<void> {
  const places = ["", "refs/stackwright", SEARCH, "objects/pack"].map((each) => join(mirror, each));
  for (const place of places) {
    for (const name of await files.list(place)) {
      if (!/\.lock$|^tmp_|^\.tmp-/.test(name)) continue;
      const path = join(place, name);
      const info = await files.stat(path);
      if (info?.kind === "file" && isStale(info.modifiedAt)) await files.remove(path);
    }
  }
}

/**
 * Removes the objects written since `began`, after a fetch that exceeded its limits: a server of plain
 * files sends objects one by one, and they would stay. Objects that another process fetched meanwhile
 * go with them and are fetched again when they are needed.
 */
export async function removeNewObjects(files: Files, mirror: string, began: Date): Promise<void> {
  const objects = join(mirror, "objects");
  for (const place of await files.list(objects)) {
    if (!/^(?:[0-9a-f]{2}|pack)$/.test(place)) continue;
    for (const name of await files.list(join(objects, place))) {
      const path = join(objects, place, name);
      const info = await files.stat(path);
      if (info?.kind === "file" && info.modifiedAt >= began) await files.remove(path);
    }
  }
}
