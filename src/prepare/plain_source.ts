import { MOST_MORE } from "../config/mod.ts";
import type { Sops } from "../secrets/mod.ts";
import { type ResolveRequest, type Source, tooLargeFile } from "../source/mod.ts";
import { sourceAsOwner } from "../system/mod.ts";

/**
 * A source that decrypts the files it reads: configuration, compose files and files they name.
 * Trees on disk stay as committed; see `EncryptedFiles.reveal` for those.
 *
 * `read` hides texts of encrypted files, and throws what {@link Sops.decrypt} throws.
 */
export function plainSource(source: Source, sops: Sops): Source {
  return {
    resolve: (request: ResolveRequest, signal) => source.resolve(request, signal),
    lastKnown: (request, signal) => source.lastKnown(request, signal),
    async read(
      revision,
      path,
      signal,
      mostBytes,
      owner = sourceAsOwner(revision.source.name),
    ) {
      const most = mostBytes + MOST_MORE;
      const bytes = await source.read(revision, path, signal, most);
      if (bytes === undefined) return undefined;
      const plain = (await sops.decrypt({ name: path, bytes, owner }, signal))?.bytes;
      if (plain === undefined && bytes.length > mostBytes) {
        throw tooLargeFile(path, bytes.length, mostBytes);
      }
      return plain ?? bytes;
    },
    entries: (revision, paths, signal) => source.entries(revision, paths, signal),
    list: (revision, path, signal) => source.list(revision, path, signal),
    materialise: (revision, signal) => source.materialise(revision, signal),
    isAncestor: (older, newer, signal) => source.isAncestor(older, newer, signal),
    close: () => source.close(),
  };
}
