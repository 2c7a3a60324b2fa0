import { Buffer } from "node:buffer";
import type { Files } from "../system/mod.ts";

/**
 * Whether a place to which containers may write has a copy of what lies at one of `sources`, links as
 * links, whatever its mode. What differs is the containers'. Nothing, and a directory, is as it was
 * written: neither is ever removed with what is in it.
 */
export async function isAsWritten(
  files: Pick<Files, "stat" | "readLink" | "readInPieces">,
  place: string,
  sources: readonly string[],
): Promise<boolean> {
  const there = await files.stat(place);
  if (there === undefined || there.kind === "directory") return true;
  for (const source of sources) {
    const ours = await files.stat(source);
    if (ours?.kind !== there.kind || ours.size !== there.size) continue;
    const isSame = there.kind === "symlink"
      ? await files.readLink(place) === await files.readLink(source)
      : await haveSameBytes(files, place, source);
    if (isSame) return true;
  }
  return false;
}

/**
 * False as well where a container put something else there meanwhile, or lets nobody else read it; reads
 * no more than `source` has.
 */
async function haveSameBytes(
  files: Pick<Files, "readInPieces">,
  place: string,
  source: string,
): Promise<boolean> {
  const theirs = files.readInPieces(place)[Symbol.asyncIterator]();
  try {
    for await (const piece of files.readInPieces(source)) {
      const { value } = await theirs.next();
      if (value === undefined || Buffer.compare(piece, value) !== 0) return false;
    }
    return (await theirs.next()).done === true;
  } catch (error) {
    if (!["ENOENT", "ENXIO", "EACCES", "EPERM"].includes((error as { code?: string }).code ?? "")) {
      throw error;
    }
    return false;
  } finally {
    await theirs.return?.();
  }
}
