import type { Revision } from "../model/mod.ts";
import type { Sops } from "../secrets/mod.ts";
import type { ResolveRequest, Source } from "../source/source.ts";
import { sourceAsOwner } from "../system/mod.ts";

/**
 * A source that decrypts the files it reads: configuration, compose files and files they name.
 * Trees on disk stay as committed; see `EncryptedFiles.reveal` for those.
 *
 * `read` also throws what {@link Sops.decrypt} throws.
 */
export function plainSource(source: Source, sops: Sops): Source {
  return {
    resolve: (request: ResolveRequest, signal) => source.resolve(request, signal),
    lastKnown: (request, signal) => source.lastKnown(request, signal),
    async read(revision: Revision, path, signal) {
      const bytes = await source.read(revision, path, signal);
      if (bytes === undefined) return undefined;
      const owner = sourceAsOwner(revision.source.name);
      return (await sops.decrypt({ name: path, bytes, owner }, signal))?.bytes ?? bytes;
    },
    entries: (revision, paths, signal) => source.entries(revision, paths, signal),
    list: (revision, path, signal) => source.list(revision, path, signal),
    materialise: (revision, signal) => source.materialise(revision, signal),
    isAncestor: (older, newer, signal) => source.isAncestor(older, newer, signal),
    close: () => source.close(),
  };
}
