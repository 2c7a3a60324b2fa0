import type { Lend } from "../system/mod.ts";
import type { Source } from "./source.ts";

/** Waits for each answer by `lend`, for work of `by`: even reading a fetched revision may fetch a submodule. */
export function lendingSource(source: Source, lend: Lend, by: string): Source {
  return {
    resolve: (request, signal) =>
      lend([hostOf(request.location.name)], () => source.resolve({ by, ...request }, signal)),
    lastKnown: (request, signal) => source.lastKnown(request, signal),
    read: (...file) => lend([], () => source.read(...file)),
    entries: (revision, paths, signal) => lend([], () => source.entries(revision, paths, signal)),
    list: (revision, path, signal) => lend([], () => source.list(revision, path, signal)),
    materialise: (revision, signal) => lend([], () => source.materialise(revision, signal)),
    isAncestor: (older, newer, signal) => lend([], () => source.isAncestor(older, newer, signal)),
    close: () => source.close(),
  };
}

/** The host in the name of a source, whatever its port. */
function hostOf(name: string): string {
  return (name.split("/")[0] ?? "").replace(/_\d+$/, "");
}
