import { errors, type SourceKind, type SourceLocation } from "../model/mod.ts";
import type { Source } from "./source.ts";

/** Sources by their kind; a missing kind is not supported yet. */
type Sources = { readonly [Kind in SourceKind]?: Source };

/** Names of each kind for messages, singular and plural. */
const WORDS: Readonly<Record<SourceKind, readonly [string, string]>> = {
  git: ["a Git repository", "Git repositories"],
  oci: ["an OCI artifact", "OCI artifacts"],
};

/**
 * A source that passes each request to the source of its kind.
 *
 * Every method throws `unsupported` for a missing kind, and what the source of the kind throws.
 */
export function sourceByKind(sources: Sources): Source {
  const of = (location: SourceLocation) => sources[location.kind] ?? refuse(location, sources);
  return {
    resolve: async (request, signal) => await of(request.location).resolve(request, signal),
    lastKnown: async (request, signal) => await of(request.location).lastKnown(request, signal),
    read: async (revision, path, signal, mostBytes) =>
      await of(revision.source).read(revision, path, signal, mostBytes),
    entries: async (at, paths, signal) => await of(at.source).entries(at, paths, signal),
    list: async (revision, path, signal) => await of(revision.source).list(revision, path, signal),
    materialise: async (revision, signal) =>
      await of(revision.source).materialise(revision, signal),
    isAncestor: async (older, newer, signal) =>
      await of(newer.source).isAncestor(older, newer, signal),
    async close() {
      await Promise.all(Object.values(sources).map((each) => each.close()));
    },
  };
}

function refuse({ kind, name }: SourceLocation, sources: Sources): never {
  const known = (Object.keys(sources) as SourceKind[]).map((each) => WORDS[each][1]);
  throw errors.unsupported(
    `${name} is ${WORDS[kind][0]}, and this version deploys from ${known.join(" and ")} only`,
  );
}
