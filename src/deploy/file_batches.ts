import { join } from "node:path";
import { COPIED_FILE } from "../compose/mod.ts";
import { errors } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";
import type { TarEntry } from "./engine/tar.ts";

/** Path of the mounted volume while it is filled. */
export const PLACE = "stackwright-files";

/** Bytes of the largest file that is copied: it must fit into memory and one call. */
export const LARGEST_COPY = 64 << 20;

/** Bytes of files sent in one call; a larger file goes alone. */
const SENT_AT_ONCE = 4 << 20;
/** Approximate bytes of an entry besides its content: a repository may hold 200,000 empty files. */
const ENTRY_BYTES = 2048;

/** The files below a path, in batches for one call each. */
export async function* batches(files: Files, original: string): AsyncGenerator<TarEntry[]> {
  const isDirectory = (await files.stat(original))?.kind === "directory";
  const root = isDirectory ? PLACE : `${PLACE}/${COPIED_FILE}`;
  let batch: TarEntry[] = [];
  let bytes = 0;
  for await (const entry of entriesAt(files, original, root)) {
    const size = ENTRY_BYTES + entry.content.length;
    if (bytes > 0 && bytes + size > SENT_AT_ONCE) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

async function* entriesAt(files: Files, from: string, path: string): AsyncGenerator<TarEntry> {
  const info = await files.stat(from);
  const facts = { path, mode: info?.mode ?? 0o644, uid: 0, gid: 0 };
  if (info?.kind === "directory") {
    // The engine makes the volume's root directory.
    if (path !== PLACE) yield { ...facts, kind: "directory", content: "" };
    for (const name of await files.list(from)) {
      yield* entriesAt(files, join(from, name), `${path}/${name}`);
    }
  } else if (info?.kind === "symlink") {
    yield { ...facts, kind: "symlink", content: await files.readLink(from) ?? "" };
  } else {
    const plain = await files.readPlain(from, LARGEST_COPY);
    if (plain === undefined) {
      throw errors.config_invalid(
        `${path.slice(PLACE.length + 1)}: only plain files of at most ${LARGEST_COPY >> 20} MiB ` +
          "are copied to an engine; put it into an image or a named volume. Nothing that runs " +
          "was touched",
      );
    }
    yield { ...facts, mode: plain.mode, content: plain.data };
  }
}
