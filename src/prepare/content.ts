import { createHash } from "node:crypto";
import { posix } from "node:path";
import { errors, type Revision } from "../model/mod.ts";
import type { Source, TreeEntry } from "../source/source.ts";

/** Content id of a missing path. */
export const ABSENT = "absent";

/**
 * Content ids of a revision's `paths`: equal ids mean equal content. A path inside a submodule that
 * is not fetched has the id of the submodule, whose commit covers it.
 */
export async function contentIds(
  source: Source,
  revision: Revision,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const asked = new Set(paths.flatMap((path) => [path, ...parents(path)]));
  const entries = await source.entries(revision, [...asked], signal);
  const found = new Map(paths.map((path) => [path, ABSENT]));
  for (const path of paths) {
    const entry = entries.get(path);
    const around = parents(path).find((parent) => entries.get(parent)?.kind === "submodule");
    if (entry !== undefined) found.set(path, `${entry.kind}:${entry.id}`);
    else if (around !== undefined && (await source.list(revision, around, signal)).has(around)) {
      found.set(path, `submodule:${entries.get(around)?.id}`);
    }
  }
  return found;
}

/** Every file and link at or below a path, also in submodules; one that cannot be entered is an entry. */
export async function filesAt(
  source: Source,
  revision: Revision,
  path: string,
  signal: AbortSignal,
): Promise<Map<string, TreeEntry>> {
  const found = new Map<string, TreeEntry>();
  for (const [file, entry] of await source.list(revision, path, signal)) {
    if (entry.kind !== "submodule" || file === path) found.set(file, entry);
    else for (const each of await filesAt(source, revision, file, signal)) found.set(...each);
  }
  return found;
}

/** True for the id of a whole submodule, or of a path in one that is not fetched. */
export function isSubmodule(identity: string): boolean {
  return identity.startsWith("submodule:");
}

/**
 * Files below directories of one deployment that hold encrypted ones, each counted once for every such
 * directory: each of them is put in words, sorted and hashed at every release.
 */
const MOST_BESIDE_ENCRYPTED = 1_000_000;

/**
 * `ids` with the id of the plain content for encrypted files, so that encrypting the same content
 * again changes nothing; a directory's id then covers all files below it.
 *
 * Throws `config_invalid` where these are too many together.
 */
export async function plainIds(
  source: Source,
  revision: Revision,
  { ids, identities }: {
    readonly ids: ReadonlyMap<string, string>;
    /** Id of the plain content by path of each encrypted file. */
    readonly identities: ReadonlyMap<string, string>;
  },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const above = new Set([...identities.keys()].flatMap((each) => [".", ...parents(each)]));
  const plain = new Map(ids);
  let count = 0;
  for (const path of ids.keys()) {
    const own = identities.get(path);
    if (own !== undefined) plain.set(path, `plain:${own}`);
    else if (above.has(path)) {
      const listed = await source.list(revision, path, signal);
      count += listed.size;
      if (count > MOST_BESIDE_ENCRYPTED) throw tooManyBeside(path);
      const entries = [...listed].map(([at, { kind, id }]) =>
        `${at} ${kind}:${identities.get(at) ?? id}`
      );
      const all = createHash("sha256").update(entries.sort().join("\0")).digest("hex");
      plain.set(path, `plain:${all.slice(0, 40)}`);
    }
  }
  return plain;
}

function tooManyBeside(path: string) {
  return errors.config_invalid(
    `the deployment's directories with encrypted files, such as ${path}, hold more than ` +
      `${MOST_BESIDE_ENCRYPTED} files together: mount and build from fewer directories that lie in one ` +
      "another, or keep encrypted files apart from them",
  );
}

function parents(path: string): string[] {
  const found: string[] = [];
  for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) {
    found.push(at);
  }
  return found;
}
