import { join } from "node:path";
import type { ComposeModel, LiveManifest, StackKey } from "../model/mod.ts";
import type { Commands, Files } from "../system/mod.ts";
import { type DataOwner, readFilesRecord, RECORD_FILE, writeFilesRecord } from "./files_record.ts";
import { holdsSomething } from "./holds_something.ts";
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
 * Tells what containers of a stack wrote to relative mounts, for {@link deletedText}: names each
 * mount of `model` that is there, or all of `live` where none is known.
 */
export async function writtenData(
  { files, options, host }: Omit<WrittenParts, "commands">,
  key: StackKey,
  model: ComposeModel | undefined,
): Promise<readonly string[]> {
  const { live } = stackDirectories(options.dataDir, key);
  if (!await holdsSomething(files, live)) return [];
  const mounted = model && pathsBelow(model, stackDirectories(host.dataDir, key).live);
  const there: string[] = [];
  for (const path of [...mounted ?? []].sort()) {
    if (await files.stat(join(live, path)) !== undefined) there.push(path);
  }
  const names = there.length === 0 ? [live] : there.map((path) => path === "." ? "." : `./${path}`);
  return names.map((name) => `what was written to ${name}`);
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
  const { stack, live } = stackDirectories(options.dataDir, key);
  const isKept = await holdsSomething(files, live);
  if (!isKept) {
    await removeWritten(parts, stack, signal);
    return false;
  }
  const known = await readFilesRecord(files, stack);
  const keptFor = owner ?? known?.keptFor;
  const record = { live: known?.live ?? before, shows: "", current: "" };
  await writeFilesRecord(files, stack, { ...record, ...(keptFor && { keptFor }) });
  const stays = [live, join(stack, RECORD_FILE)];
  for (const each of await files.list(stack)) {
    const path = join(stack, each);
    if (!stays.includes(path)) await removeWritten(parts, path, signal);
  }
  return true;
}

/** Whom data is kept for that a destroy left; `undefined` without any. */
export async function keptDataOwner(
  { files, options }: Pick<WrittenParts, "files" | "options">,
  key: StackKey,
): Promise<DataOwner | undefined> {
  const { stack } = stackDirectories(options.dataDir, key);
  return (await readFilesRecord(files, stack))?.keptFor;
}
