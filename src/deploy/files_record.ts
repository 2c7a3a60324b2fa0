import { createHash } from "node:crypto";
import { join } from "node:path";
import { type LiveManifest, own, type Release, type StackOwner } from "../model/mod.ts";
import { type Files, readText } from "../system/mod.ts";
import { canonicalJson, parentsOf } from "../compose/mod.ts";

/** The parts of a release that decide about its files on disk. */
export type ShownRelease =
  & Pick<Release, "live" | "services">
  & Partial<Pick<Release, "model" | "revision">>;

/** Whose data containers wrote: the stack's owner, and the repository that it was deployed from. */
export interface DataOwner extends StackOwner {
  readonly repository: string;
}

/** Copies of files that containers changed or made, and a newer release replaces. */
export interface KeptFiles {
  /** {@link filesDigest} of the release that the files belong to. */
  readonly base: string;
  /** What was written at each path before, as in its record; empty for what only containers made. */
  readonly files: Readonly<Record<string, string>>;
}

/** Record of the files on disk for a stack's containers, independent of the ledger. */
export interface FilesRecord {
  /** Files under `live/`; those of an unfinished switch are marked as unsure. */
  readonly live: LiveManifest;
  /** {@link filesDigest} of the release in place; empty during a switch. */
  readonly shows: string;
  /** Target of the link `current` for that release. */
  readonly current: string;
  /** Copies of replaced files; absent without any. */
  readonly kept?: KeptFiles;
  /** Whom a destroy left `live` for; absent while the stack is deployed. */
  readonly keptFor?: DataOwner;
  /** Whom it is deployed for: without a ledger and containers nothing else tells. */
  readonly deployedFor?: DataOwner;
}

/** Prefix of the content of a file that may be half written. */
const UNSURE = "unsure ";

/** Name of the record, beside `current` and `live`, where no container sees it. */
export const RECORD_FILE = "files.json";

/**
 * Digest of the files that containers see under `current` and `live`: equal releases show equal
 * files. Services without files do not count, so removing such a service changes nothing.
 */
export function filesDigest({ live, services }: ShownRelease): string {
  const mounted = services.map(({ inputs, inPlace }) => [
    Object.entries(inputs).filter(([name]) => name.startsWith("file:")).sort(),
    Object.entries(inPlace?.files ?? {}).sort(),
  ]).filter(([inputs = [], inPlace = []]) => inputs.length + inPlace.length > 0);
  const directories = [...live.directories].sort();
  const text = canonicalJson({ files: live.files, directories, mounted });
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** The manifest while `before` is being replaced by `after`: each file that differs is unsure. */
export function between(before: LiveManifest, after: LiveManifest): LiveManifest {
  const paths = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])];
  const files = paths.map((path) => {
    const [was, willBe] = [before.files[path], after.files[path]];
    return [path, was === willBe ? was : UNSURE + sureContent(willBe ?? was ?? "")];
  });
  const directories = [...new Set([...before.directories, ...after.directories])];
  return { files: Object.fromEntries(files), directories };
}

/** Paths of files that `after` replaces: by others, or by directories, where `before` had some. */
export function replacedPaths(before: LiveManifest, after: LiveManifest): string[] {
  const files = Object.keys(after.files);
  const around = [...files, ...after.directories].flatMap(parentsOf);
  const directories = new Set([...after.directories, ...around]);
  return [
    ...files.filter((path) => own(before.files, path) !== own(after.files, path)),
    ...Object.keys(before.files).filter((path) => directories.has(path)),
  ];
}

/** The content of a file without the mark {@link between} puts on unsure files. */
function sureContent(content: string): string {
  return content.startsWith(UNSURE) ? content.slice(UNSURE.length) : content;
}

/** Most bytes of a record: paths of all files, twice, with what JSON adds. */
const MOST_OF_RECORD = 64 * 1024 * 1024;

/** Reads the record of a stack; `undefined` when it is missing or cannot be read. */
export async function readFilesRecord(
  files: Files,
  stack: string,
): Promise<FilesRecord | undefined> {
  const text = await readText(files, join(stack, RECORD_FILE), MOST_OF_RECORD);
  try {
    const { live, shows, current, kept, keptFor, deployedFor } = JSON.parse(text ?? "");
    if (typeof live?.files !== "object" || !Array.isArray(live.directories)) return undefined;
    return {
      live,
      shows: String(shows),
      current: String(current),
      ...(typeof kept?.files === "object" ? { kept } : {}),
      ...(typeof keptFor?.source === "string" ? { keptFor } : {}),
      ...(typeof deployedFor?.source === "string" ? { deployedFor } : {}),
    };
  } catch {
    return undefined;
  }
}

/** Writes the record of a stack. */
export async function writeFilesRecord(
  files: Files,
  stack: string,
  record: FilesRecord,
): Promise<void> {
  await files.write(join(stack, RECORD_FILE), JSON.stringify(record), { mode: 0o600 });
}
