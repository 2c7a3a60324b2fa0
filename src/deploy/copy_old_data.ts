import { dirname, join } from "node:path";
import {
  errors,
  messageOf,
  type Progress,
  type Release,
  type StackKey,
  utf8,
} from "../model/mod.ts";
import { LiveDirectory } from "./live_directory.ts";
import { observe } from "./observe.ts";
import { findOldData, type OldData } from "./old_data.ts";
import { PROGRAMS, removeWritten, runOnFiles } from "./remove_written.ts";
import { stackDirectories } from "./stack_files.ts";
import type { Engine } from "../docker/engine.ts";
import { type Clock, type Commands, type Files, requireRoom } from "../system/mod.ts";

/** Ports for copying data that containers of somebody else have written. */
export interface OldDataParts {
  readonly host: {
    readonly engine: Engine;
    /** The data directory as the engine's machine sees it. */
    readonly dataDir: string;
    /** A path of the engine's host as this process sees it; `undefined` when it cannot. */
    localPath(hostPath: string, signal: AbortSignal): Promise<string | undefined>;
    /** The container of this process, if the engine runs it. */
    own(signal: AbortSignal): Promise<{ readonly container: { readonly id: string } } | undefined>;
  };
  readonly commands: Commands;
  readonly files: Files;
  readonly clock: Clock;
  readonly ledger: {
    current(key: StackKey): unknown;
    /** What {@link current} returned, whole. */
    open(recorded: never): Pick<Release, "model">;
  };
  readonly options: {
    /** The data directory as this process sees it. */
    readonly dataDir: string;
    /** Other files and directories with our secrets. */
    readonly protectedPaths: readonly string[];
  };
}

const MIB = 1024 ** 2;

/** Milliseconds between two progress reports of a copy. */
const TELL_MS = 2000;

/** Milliseconds between two looks at the room on the disk, and for all of a copy. */
const LOOK_MS = 250;
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Name of a copy in progress, beside `live`: a copy under its own name is complete. */
const UNFINISHED = ".bringing";

/** Data of one mount to copy. */
export interface ToBring {
  readonly data: OldData;
  /** Path of the data as this process sees it. */
  readonly local: string;
}

/**
 * Copies everything but file contents, to find out before a service is stopped whether names,
 * owners and permissions can be read and written. A `cp` without that option is no failure.
 */
export async function rehearse(
  parts: OldDataParts,
  key: StackKey,
  { data, local }: ToBring,
  signal: AbortSignal,
): Promise<void> {
  await placing(parts, key, data, signal, async (unfinished, bound) => {
    const bytes = await sizeOf(parts, local, bound) * MIB;
    await requireRoom(parts.files, dirname(unfinished), { bytes, isNew: false });
    const { code, said } = await runOnFiles(
      parts.commands,
      ["cp", "-a", "--attributes-only", "--", local, unfinished],
      bound,
    );
    if (code !== 0 && !/attributes-only/.test(said)) throw failedCopy(code, said);
  });
}

/** Copies the data of one mount, and moves it to its place when the copy is complete. */
export async function copy(
  parts: OldDataParts,
  key: StackKey,
  { data, local, progress }: ToBring & { readonly progress: Progress },
  signal: AbortSignal,
): Promise<void> {
  await placing(parts, key, data, signal, async (unfinished, bound) => {
    await runCopy(parts, { from: local, to: unfinished, shown: data.source, progress }, bound);
    await within(parts, key, data.path, { makes: true }, async (place) => {
      // The place holds nothing, otherwise the data would not be copied, or only since.
      await parts.files.removeEmpty(place);
      await parts.files.rename(unfinished, place);
    });
  });
}

/**
 * Removes a copy, or what containers put in its place; may be called again. It is taken away from
 * them first: `rm` would follow their links on the way to it.
 */
export async function removeCopy(
  parts: OldDataParts,
  key: StackKey,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const aside = join(stackDirectories(parts.options.dataDir, key).stack, UNFINISHED);
  await removeWritten(parts, aside, signal);
  await within(parts, key, path, { makes: false }, async (place) => {
    if (await parts.files.stat(place) !== undefined) await parts.files.rename(place, aside);
  });
  await removeWritten(parts, aside, signal);
}

/** Runs `work` with a place below `live`, to which no link of a container leads elsewhere. */
async function within(
  { files, options }: OldDataParts,
  key: StackKey,
  path: string,
  how: { readonly makes: boolean },
  work: (place: string) => Promise<void>,
): Promise<void> {
  const { live } = stackDirectories(options.dataDir, key);
  // No container can put a link in the place of the whole directory.
  if (path === ".") await work(live);
  else await new LiveDirectory(files, live).at(path, how, work);
}

/** Runs `work` with a free path for an unfinished copy, which is removed afterwards. */
async function placing(
  parts: OldDataParts,
  key: StackKey,
  data: OldData,
  signal: AbortSignal,
  work: (unfinished: string, bound: AbortSignal) => Promise<void>,
): Promise<void> {
  const { stack, live } = stackDirectories(parts.options.dataDir, key);
  const [unfinished, place] = [join(stack, UNFINISHED), join(live, data.path)];
  const clear = () => removeWritten(parts, unfinished, signal);
  try {
    await parts.files.makeDirectory(stack);
    // Found out before a service is stopped, too.
    await within(parts, key, data.path, { makes: true }, () => Promise.resolve());
    await clear();
    await bounded(parts, stack, (bound) => work(unfinished, bound), signal);
    await clear();
  } catch (cause) {
    if (signal.aborted) throw cause;
    await clear().catch(() => {});
    const what = `its data in ${data.source} could not be copied to ${place}`;
    const text = `${key.name} is not adopted: ${what}: ${messageOf(cause)}`;
    throw errors.data_dir_unusable(text, { cause });
  }
}

/** Ends work on `directory` that takes too long, or leaves too little room for others on its disk. */
async function bounded(
  { files, clock }: OldDataParts,
  directory: string,
  work: (within: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const [ended, stop] = [new AbortController(), new AbortController()];
  const from = clock.now().getTime();
  const watching = (async () => {
    for (;;) {
      await clock.sleep(LOOK_MS, ended.signal);
      await requireRoom(files, directory, { bytes: 0, isNew: false });
      if (clock.now().getTime() - from > LONGEST_MS) throw new Error("it took more than a day");
    }
  })().catch((error) => stop.abort(error));
  try {
    await work(AbortSignal.any([signal, stop.signal]));
  } finally {
    ended.abort();
    await watching;
  }
}

function failedCopy(code: number, said: string): Error {
  return new Error(`cp ended with ${code}: ${said}`);
}

/** Removes several copies as {@link removeCopy} does. */
export async function removeEach(
  parts: OldDataParts,
  key: StackKey,
  copies: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const path of copies) await removeCopy(parts, key, path, signal);
}

/**
 * Removes those of some copies whose originals containers have again that an adoption put back: they write
 * there from now on. Of a container that is gone for good, the copy is all that the next attempt finds.
 */
export async function removeCopies(
  parts: OldDataParts,
  release: Release,
  copied: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (copied.length === 0) return;
  const { host: { engine, dataDir } } = parts;
  const observed = await observe(engine, release, signal);
  for (const each of await findOldData(engine, { ...release, dataDir }, observed, signal)) {
    const { path, isInUse } = each;
    const isCopy = !isInUse &&
      copied.some((each) => each === "." || `${path}/`.startsWith(`${each}/`));
    if (isCopy) await removeCopy(parts, release.key, path, signal);
  }
}

/** Mebibytes that a tree takes on its disk; 0 where that cannot be read. */
async function sizeOf({ commands }: OldDataParts, path: string, signal: AbortSignal) {
  const how = { env: PROGRAMS, keptBytes: 1000 };
  const { code, stdout } = await commands.run({ argv: ["du", "-sk", "--", path], ...how }, signal);
  const kilobytes = Number(/^\d+/.exec(utf8(stdout))?.[0] ?? 0);
  return code === 0 ? Math.ceil(kilobytes / 1024) : 0;
}

/** `cp` preserves owners, sparse files and links, which no service may lose. */
async function runCopy(
  parts: OldDataParts,
  { from, to, shown, progress }: {
    readonly from: string;
    readonly to: string;
    readonly shown: string;
    readonly progress: Progress;
  },
  signal: AbortSignal,
): Promise<void> {
  const total = await sizeOf(parts, from, signal);
  progress(`copying ${total} MB from ${shown}`);
  const ended = new AbortController();
  const telling = (async () => {
    const either = AbortSignal.any([signal, ended.signal]);
    for (;;) {
      await parts.clock.sleep(TELL_MS, either);
      progress(`copied ${await sizeOf(parts, to, either)} of ${total} MB from ${shown}`);
    }
  })().catch(() => {});
  try {
    const { code, said } = await runOnFiles(parts.commands, ["cp", "-a", "--", from, to], signal);
    if (code !== 0) throw failedCopy(code, said);
  } finally {
    ended.abort();
    await telling;
  }
}

/** Whether a path of the directory `live` has a file, or a directory that is not empty; see {@link LiveDirectory.at}. */
export async function liveHolds(files: Files, live: string, path: string): Promise<boolean> {
  const look = (place: string) => holdsSomething(files, place);
  return await new LiveDirectory(files, live).at(path, { makes: false }, look) === true;
}

/** Whether there is a file at a path, or a directory that is not empty. */
export async function holdsSomething(
  files: Pick<Files, "listAtMost" | "stat">,
  place: string,
): Promise<boolean> {
  const info = await files.stat(place);
  if (info?.kind !== "directory") return info !== undefined;
  return (await files.listAtMost(place, 0))?.length !== 0;
}

/** Whether something is at a path of the engine's host; `undefined` where this process cannot see it. */
export async function holdsSomethingSeen(
  { files, host }: Pick<OldDataParts, "files" | "host">,
  source: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const seen = await host.localPath(source, signal);
  return seen === undefined ? undefined : await holdsSomething(files, seen);
}
