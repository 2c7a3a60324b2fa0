import { join } from "node:path";
import { parentsOf } from "../compose/mod.ts";
import { type ComposeModel, type LiveManifest, own, type StackKey } from "../model/mod.ts";
import type { Commands, Files } from "../system/mod.ts";
import { holdsSomething } from "./copy_old_data.ts";
import { type DataOwner, readFilesRecord, RECORD_FILE, writeFilesRecord } from "./files_record.ts";
import { isAsWritten } from "./is_as_written.ts";
import { LiveDirectory } from "./live_directory.ts";
import { pathsBelow } from "./live_inside.ts";
import { removeWritten } from "./remove_written.ts";
import { stackDirectories } from "./stack_files.ts";

/** Ports to what containers wrote, and where it lies for this process and for the engine. */
interface WrittenParts {
  readonly files: Files;
  readonly commands: Commands;
  readonly options: { readonly dataDir: string };
  readonly host: { readonly dataDir: string };
}

/**
 * Tells what containers of a stack wrote to relative mounts, for {@link dataText}: names each
 * mount of `model` that is there and what earlier releases mounted, or all of `live` where none is known.
 */
export async function writtenData(
  { files, options, host }: Omit<WrittenParts, "commands">,
  key: StackKey,
  model: ComposeModel | undefined,
): Promise<readonly string[]> {
  const directories = stackDirectories(options.dataDir, key);
  const { stack, live } = directories;
  const tracked = (await readFilesRecord(files, stack))?.live;
  if (!await isWritten(files, directories, tracked)) return [];
  const mounted = model && pathsBelow(model, stackDirectories(host.dataDir, key).live);
  const there: string[] = [];
  for (const path of [...mounted ?? []].sort()) {
    if (await files.stat(join(live, path)) !== undefined) there.push(path);
  }
  const left = mounted && await besideMounts(files, directories, { mounted, tracked }) || [];
  if (there.length + left.length === 0) return [`what was written to ${live}`];
  const more = left.length > MOST_LEFT ? [`whatever else is in ${live}`] : [];
  return [
    ...there.map((path) => `what was written to ${path === "." ? "." : `./${path}`}`),
    ...left.slice(0, MOST_LEFT).map((path) =>
      `what was written to ./${path} (not mounted any more)`
    ),
    ...more,
  ];
}

type Places = Pick<ReturnType<typeof stackDirectories>, "live" | "current">;

/** What is named of data that earlier releases mounted. */
const MOST_LEFT = 10;

/** What is in `live` beside what is mounted and the tracked files: the outermost paths, some more than are named. */
async function besideMounts(
  files: Files,
  { live, current }: Places,
  { mounted, tracked }: {
    readonly mounted: ReadonlySet<string>;
    readonly tracked: LiveManifest | undefined;
  },
): Promise<readonly string[]> {
  const known = [...mounted, ...Object.keys(tracked?.files ?? {}), ...tracked?.directories ?? []];
  const around = new Set(known.flatMap((path) => [path, ...parentsOf(path)]));
  const [directories, left]: [string[], string[]] = [[""], []];
  let seen = 0;
  for (const directory of directories) {
    if (mounted.has(directory === "" ? "." : directory)) continue;
    const names = await files.listAtMost(join(live, directory), MOST_ENTRIES - seen);
    if (names === undefined) return [...left, directory];
    seen += names.length;
    for (const path of names.map((each) => join(directory, each)).sort()) {
      if (left.length > MOST_LEFT) return left;
      const place = join(live, path);
      const isDirectory = (await files.stat(place))?.kind === "directory";
      if (around.has(path) && isDirectory) directories.push(path);
      const places = { live: place, current: place };
      // What containers wrote to a file of ours stays when nothing mounts it any more.
      const isKnown = around.has(path) && (isDirectory || mounted.has(path) ||
        await isAsWritten(files, place, [join(current, path)]));
      if (isKnown) continue;
      if (!isDirectory || await isWritten(files, places, undefined)) left.push(path);
    }
  }
  return left;
}

/**
 * Removes the directory of a stack but for what containers wrote, whose owner is noted: without a
 * ledger nothing else tells. May be called again. `before` are its tracked files where an old version
 * left no record. Returns whether anything is kept.
 */
export async function keepWritten(
  parts: Omit<WrittenParts, "host">,
  key: StackKey,
  { owner, before }: { readonly owner?: DataOwner | undefined; readonly before: LiveManifest },
  signal: AbortSignal,
): Promise<boolean> {
  const { files, options } = parts;
  const directories = stackDirectories(options.dataDir, key);
  const { stack, live } = directories;
  const known = await readFilesRecord(files, stack);
  const tracked = known?.live ?? before;
  if (!await isWritten(files, directories, tracked)) {
    await removeWritten(parts, stack, signal);
    return false;
  }
  const keptFor = owner ?? known?.keptFor ?? known?.deployedFor;
  const record = { live: tracked, shows: "", current: "" };
  await writeFilesRecord(files, stack, { ...record, ...(keptFor && { keptFor }) });
  const stays = [live, join(stack, RECORD_FILE)];
  for (const each of await files.list(stack)) {
    const path = join(stack, each);
    if (!stays.includes(path)) await removeWritten(parts, path, signal);
  }
  return true;
}

/** Entries up to which they are compared; more counts as written. */
const MOST_ENTRIES = 10_000;

/** Whether `live` has anything but `tracked` files as they were committed, and empty directories. */
async function holdsWritten(
  files: Files,
  { live, current }: Places,
  tracked: LiveManifest | undefined,
): Promise<boolean> {
  const isCommitted = async (path: string) => {
    if (tracked === undefined || !Object.hasOwn(tracked.files, path)) return false;
    return await isAsWritten(files, join(live, path), [join(current, path)]);
  };
  const directories = [""];
  let seen = 0;
  for (const directory of directories) {
    const names = await files.listAtMost(join(live, directory), MOST_ENTRIES - seen);
    if (names === undefined) return true;
    seen += names.length;
    for (const name of names) {
      const path = join(directory, name);
      if ((await files.stat(join(live, path)))?.kind === "directory") directories.push(path);
      else if (!await isCommitted(path)) return true;
    }
  }
  return false;
}

/** A function that tells whether containers wrote anything to a path of a stack's `live`, as last deployed. */
export async function writtenAt(
  { files, options }: Pick<WrittenParts, "files" | "options">,
  key: StackKey,
): Promise<(path: string) => Promise<boolean>> {
  const directories = stackDirectories(options.dataDir, key);
  const { stack, live, current } = directories;
  const known = (await readFilesRecord(files, stack))?.live;
  return async (path) => {
    const start = path === "." ? "" : `${path}/`;
    const look = async (place: string) => {
      if (!await holdsSomething(files, place)) return false;
      const all = Object.entries(known?.files ?? {});
      if ((await files.stat(place))?.kind !== "directory") {
        return own(known?.files ?? {}, path) === undefined ||
          !await isAsWritten(files, place, [join(current, path)]);
      }
      const below = all.filter(([file]) => file.startsWith(start))
        .map(([file, content]) => [file.slice(start.length), content]);
      const tracked = { files: Object.fromEntries(below), directories: [] };
      const places = { ...directories, live: place, current: join(current, path) };
      return await isWritten(files, places, tracked);
    };
    return await new LiveDirectory(files, live).at(path, { makes: false }, look) === true;
  };
}

/** As {@link holdsWritten}. Containers make paths that nothing outside can name: these are none of ours. */
const isWritten: typeof holdsWritten = async (...asked) => {
  try {
    return await holdsWritten(...asked);
  } catch (error) {
    if ((error as { code?: string }).code !== "ENAMETOOLONG") throw error;
    return true;
  }
};

/** The owner of data that a destroy left, or that a deployed stack's containers wrote, if there is any. */
export async function keptDataOwner(
  { files, options }: Pick<WrittenParts, "files" | "options">,
  key: StackKey,
): Promise<DataOwner | undefined> {
  const directories = stackDirectories(options.dataDir, key);
  const known = await readFilesRecord(files, directories.stack);
  if (known?.keptFor !== undefined || known?.deployedFor === undefined) return known?.keptFor;
  return await isWritten(files, directories, known.live) ? known.deployedFor : undefined;
}

/** Whom the record of a stack's files names: it was deployed for that one last, or its data was kept for it. */
export async function filesOwner(
  { files, options }: Pick<WrittenParts, "files" | "options">,
  key: StackKey,
): Promise<DataOwner | undefined> {
  const known = await readFilesRecord(files, stackDirectories(options.dataDir, key).stack);
  return known?.keptFor ?? known?.deployedFor;
}
