import { join } from "node:path";
import { errors, messageOf, type Progress, type StackKey, utf8 } from "../model/mod.ts";
import { LiveDirectory } from "./live_directory.ts";
import type { OldData } from "./old_data.ts";
import { PROGRAMS, removeWritten } from "./remove_written.ts";
import { stackDirectories } from "./stack_files.ts";
import type { Engine } from "../docker/engine.ts";
import type { Clock, Commands, Files } from "../system/mod.ts";

/** Ports for copying data that containers of somebody else have written. */
export interface OldDataParts {
  readonly host: {
    readonly engine: Engine;
    /** The data directory as the engine's machine sees it. */
    readonly dataDir: string;
    /** A path of the engine's host as this process sees it; `undefined` when it cannot. */
    localPath(hostPath: string, signal: AbortSignal): Promise<string | undefined>;
  };
  readonly commands: Commands;
  readonly files: Files;
  readonly clock: Clock;
  readonly ledger: { current(key: StackKey): unknown };
  readonly options: {
    /** The data directory as this process sees it. */
    readonly dataDir: string;
    /** Other files and directories with our secrets. */
    readonly protectedPaths: readonly string[];
  };
}

/** Milliseconds between two progress reports of a copy. */
const TELL_MS = 2000;

/** Bytes of what `cp` says that are kept: it may complain of millions of files. */
const KEPT_BYTES = 1000;

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
  await placing(parts, key, data, signal, async (unfinished) => {
    const { code, stderr } = await parts.commands.run({
      argv: ["cp", "-a", "--attributes-only", "--", local, unfinished],
      env: PROGRAMS,
      keptBytes: KEPT_BYTES,
      endsWithUs: true,
    }, signal);
    if (code !== 0 && !/attributes-only/.test(stderr)) throw failedCopy(code, stderr);
  });
}

/** Copies the data of one mount, and moves it to its place when the copy is complete. */
export async function copy(
  parts: OldDataParts,
  key: StackKey,
  { data, local, progress }: ToBring & { readonly progress: Progress },
  signal: AbortSignal,
): Promise<void> {
  await placing(parts, key, data, signal, async (unfinished) => {
    await runCopy(parts, { from: local, to: unfinished, shown: data.source, progress }, signal);
    await within(parts, key, data.path, { makes: true }, async (place) => {
      // The place holds nothing, otherwise the data would not be copied.
      await parts.files.remove(place);
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
  work: (unfinished: string) => Promise<void>,
): Promise<void> {
  const { stack, live } = stackDirectories(parts.options.dataDir, key);
  const [unfinished, place] = [join(stack, UNFINISHED), join(live, data.path)];
  const clear = () => removeWritten(parts, unfinished, signal);
  try {
    await parts.files.makeDirectory(stack);
    // Found out before a service is stopped, too.
    await within(parts, key, data.path, { makes: true }, () => Promise.resolve());
    await clear();
    await work(unfinished);
    await clear();
  } catch (cause) {
    if (signal.aborted) throw cause;
    await clear().catch(() => {});
    const what = `its data in ${data.source} could not be copied to ${place}`;
    const text = `${key.name} is not adopted: ${what}: ${messageOf(cause)}`;
    throw errors.data_dir_unusable(text, { cause });
  }
}

function failedCopy(code: number | null, stderr: string): Error {
  return new Error(`cp ended with ${code}: ${stderr.trim().slice(-500)}`);
}

/** `cp` preserves owners, sparse files and links, which no service may lose. */
async function runCopy(
  { commands, clock }: OldDataParts,
  { from, to, shown, progress }: {
    readonly from: string;
    readonly to: string;
    readonly shown: string;
    readonly progress: Progress;
  },
  signal: AbortSignal,
): Promise<void> {
  const env = PROGRAMS;
  const size = async (path: string) => {
    const { code, stdout } = await commands.run({ argv: ["du", "-sk", "--", path], env }, signal);
    const kilobytes = Number(/^\d+/.exec(utf8(stdout))?.[0] ?? 0);
    return code === 0 ? Math.ceil(kilobytes / 1024) : 0;
  };
  const total = await size(from);
  progress(`copying ${total} MB from ${shown}`);
  const ended = new AbortController();
  const telling = (async () => {
    for (;;) {
      await clock.sleep(TELL_MS, AbortSignal.any([signal, ended.signal]));
      progress(`copied ${await size(to)} of ${total} MB from ${shown}`);
    }
  })().catch(() => {});
  try {
    const argv = ["cp", "-a", "--", from, to] as const;
    const how = { env, keptBytes: KEPT_BYTES, endsWithUs: true };
    const { code, stderr } = await commands.run({ argv: [...argv], ...how }, signal);
    if (code !== 0) throw failedCopy(code, stderr);
  } finally {
    ended.abort();
    await telling;
  }
}
