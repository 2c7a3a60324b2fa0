import { availableParallelism } from "node:os";
import { join, relative } from "node:path/posix";
import { byText, type Compaction, messageOf, type SourceLocation } from "../../model/mod.ts";
import type { Clock, Files, WatchableLock } from "../../system/mod.ts";
import { onDisk } from "../disk_error.ts";
import type { Git } from "./git.ts";
import { removeStaleLocks } from "./mirror_locks.ts";
import { isMirror, type MirrorUse, removeUnused, type StoredMirror } from "./unused_mirrors.ts";

/** Ends of a compaction of one mirror, in the order in which a summary counts them. */
export const COMPACTION_RESULTS = [
  "compacted",
  "skipped_single_pack",
  "skipped_size",
  "skipped_busy",
  "failed",
  "cancelled",
] as const;

/** End of the compaction of one mirror. */
export interface CompactedMirror {
  readonly result: (typeof COMPACTION_RESULTS)[number];
  /** Bytes of its packs, before and after; absent where it was not measured. */
  readonly bytes?: { readonly before: number; readonly after: number };
  readonly why?: string;
}

type CompactionOrder = Pick<Compaction, "mode" | "maxBytes">;

/** The mirrors below a data directory. */
export interface MirrorStore {
  /** Every mirror, those of submodules included, sorted by repository and path. */
  list(): Promise<StoredMirror[]>;
  /** Directory of the mirror of a source, whether or not it exists; `undefined` for an invalid URL. */
  pathOf(source: SourceLocation): string | undefined;
  /** Removes mirrors that nobody needs; returns how many. Throws `data_dir_unusable`. */
  removeUnused(use: MirrorUse, signal: AbortSignal): Promise<number>;
  /** The packfiles of every mirror, and their bytes. */
  packs(): Promise<(StoredMirror & { readonly packs: number; readonly bytes: number })[]>;
  /**
   * Compacts one mirror unless it is in use. Failures are results, not rejections; an aborted signal
   * gives `cancelled` and leaves the packs as they were.
   */
  compact(
    mirror: StoredMirror,
    order: CompactionOrder,
    signal: AbortSignal,
  ): Promise<CompactedMirror>;
}

/** Parts of the store. */
export interface MirrorStoreParts {
  readonly git: Pick<Git, "local" | "error">;
  readonly files: Files;
  readonly clock: Clock;
  /** Absolute path of the data directory. */
  readonly dataDir: string;
  /** Directory of the mirror of a source. Throws for an invalid URL. */
  readonly pathOf: (source: SourceLocation) => string;
  /** The lock that mirrors are fetched under; the key is the directory. */
  readonly lock: WatchableLock;
}

/** Memory for each thread of git to compare objects in: ten of them of any size otherwise. */
const WINDOW_BYTES = 100 * 1024 * 1024;
/** Threads that stay below the memory that git may have, however many processors there are. */
const MOST_THREADS = 4;

/** Makes the store of the mirrors below a data directory. */
export function createMirrorStore(parts: MirrorStoreParts): MirrorStore {
  const sources = join(parts.dataDir, "sources");
  const stored = () => storedBelow(parts.files, sources, sources);
  const list = async () => {
    const found = (await stored()).filter(({ path }) => isMirror(path));
    return found.sort((a, b) => byText(a.repository, b.repository) || byText(a.path, b.path));
  };
  return {
    list,
    pathOf(source) {
      try {
        return parts.pathOf(source);
      } catch {
        return undefined;
      }
    },
    removeUnused: (use, signal) =>
      onDisk(sources, async () => await removeUnused(parts, await stored(), use, signal)),
    packs: async () =>
      await Promise.all((await list()).map(async (mirror) => ({
        ...mirror,
        ...await measurePacks(parts.files, mirror.path),
      }))),
    async compact(mirror, order, signal) {
      if (signal.aborted) return { result: "cancelled" };
      if (parts.lock.isBusy(mirror.path)) return { result: "skipped_busy" };
      const work = () => compact(parts, mirror, order, signal);
      try {
        return await parts.lock.run(mirror.path, work, signal);
      } catch (error) {
        if (signal.aborted) return { result: "cancelled" };
        return { result: "failed", why: messageOf(error) };
      }
    },
  };
}

function partOfName(directory: string): string {
  return directory.replace(/%$/, "").replaceAll("%25", "%");
}

/**
 * All that sources have in `mirror` and in `submodules`: mirrors, and what is left of removals and of
 * earlier versions. No part of a source name is called so.
 */
async function storedBelow(files: Files, root: string, directory: string): Promise<StoredMirror[]> {
  const repository = relative(root, directory).split("/").map(partOfName).join("/");
  const found: StoredMirror[] = [];
  for (const name of await files.list(directory)) {
    const path = join(directory, name);
    // A repository may be called `.tmp-…`, as what is being made is: that lies beside mirrors and trees alone.
    if (name === "trees") continue;
    if (name === "mirror" || name === "submodules") {
      const names = await files.list(path);
      found.push(...names.map((each) => ({ repository, path: join(path, each) })));
    } else if ((await files.stat(path))?.kind === "directory") {
      found.push(...await storedBelow(files, root, path));
    }
  }
  return found;
}

async function compact(
  parts: MirrorStoreParts,
  { repository, path }: StoredMirror,
  { mode, maxBytes }: CompactionOrder,
  signal: AbortSignal,
): Promise<CompactedMirror> {
  const before = await measure(parts.files, path);
  const same = { before: before.bytes, after: before.bytes };
  if (mode === "repack" && maxBytes > 0 && before.bytes > maxBytes) {
    return { result: "skipped_size", bytes: same };
  }
  const isSingle = before.packs <= 1 && before.loose === 0;
  if (isSingle && mode === "copy") return { result: "skipped_single_pack", bytes: same };
  const started = new Date(parts.clock.now().getTime() - 50);
  const settings = [
    "repack.writeBitmaps=false",
    `pack.windowMemory=${WINDOW_BYTES}`,
    `pack.threads=${Math.min(MOST_THREADS, availableParallelism())}`,
  ];
  // Keeps unreachable objects: releases may name commits that their branch no longer has.
  const args = [...settings.flatMap((each) => ["-c", each]), "repack", "-a", "-d", "-k", "-q"];
  const anew = mode === "repack" ? ["-f", "--window=10"] : [];
  const invocation = { args: [...args, ...anew], gitDir: path, isLarge: true };
  const done = await parts.git.local(invocation, signal);
  if (done.failure !== undefined) {
    await removeStaleLocks(parts.files, path, (madeAt) => madeAt >= started);
    signal.throwIfAborted();
    throw parts.git.error(done, `compacting a mirror of ${repository}`);
  }
  const after = await measure(parts.files, path);
  const isSmaller = after.bytes < before.bytes || after.packs < before.packs;
  return {
    result: isSingle && !isSmaller ? "skipped_single_pack" : "compacted",
    bytes: { before: before.bytes, after: after.bytes },
  };
}

async function measurePacks(files: Files, mirror: string) {
  const place = join(mirror, "objects", "pack");
  let [packs, bytes] = [0, 0];
  for (const name of await files.list(place)) {
    const info = name.endsWith(".pack") ? await files.stat(join(place, name)) : undefined;
    if (info === undefined) continue;
    packs++;
    bytes += info.size;
  }
  return { packs, bytes };
}

async function measure(files: Files, mirror: string) {
  let loose = 0;
  for (const name of await files.list(join(mirror, "objects"))) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    loose += (await files.list(join(mirror, "objects", name))).length;
  }
  return { ...await measurePacks(files, mirror), loose };
}
