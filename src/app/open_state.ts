import { join } from "node:path";
import { errors, isStackwrightError, messageOf } from "../model/mod.ts";
import {
  copyLedger,
  INSTANCE_KEY_FILE,
  type InstanceKey,
  Ledger,
  loadInstanceKey,
  processesOf,
} from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { existsNow, type Files, type Ids, sourceAsOwner, stackAsOwner } from "../system/mod.ts";
import { openDataDirectory } from "./data_directory.ts";
import type { System } from "./system.ts";

/** The key and the ledger of the data directory, or copies. */
export interface State {
  readonly key: InstanceKey;
  readonly ledger: Ledger;
}

/** What a command does with the ledger; see {@link openState}. */
export interface StateUse {
  /** Whether nothing is recorded: then a data directory that cannot be written is no error. */
  readonly onlyReads?: boolean;
  /** Whether it works on what is recorded: where nothing is, it throws `not_found` and makes nothing. */
  readonly needsLedger?: boolean;
}

/** Opens key and ledger; with `onlyReads` even where the ledger cannot be written, with a warning. */
export async function openState(
  settings: Settings,
  system: System,
  { ids, onlyReads = false, needsLedger = false }: StateUse & { readonly ids: Ids },
): Promise<State> {
  const { dir } = settings.data;
  const { files, log } = system;
  if (needsLedger) await requireLedger(files, dir);
  try {
    await openDataDirectory(files, dir);
    const key = await loadInstanceKey(files, dir);
    const ledger = openLedger(dir, system, { key, ids });
    ledger.checkWritable();
    await closeToOthers(system, join(dir, LEDGER_FILE));
    return { key, ledger };
  } catch (error) {
    const isFull = onlyReads && isStackwrightError(error, "data_dir_unusable");
    if (!isFull || !existsNow(join(dir, LEDGER_FILE))) throw error;
    log.warning(`${messageOf(error)}; this command only reads what is recorded there`);
    const key = await loadInstanceKey(files, dir);
    return { key, ledger: openLedger(dir, system, { key, ids, onlyReads }) };
  }
}

async function requireLedger(files: Files, dir: string): Promise<void> {
  const found = await files.stat(join(dir, LEDGER_FILE)).catch((cause) => {
    const why = `DATA_DIR ${dir} cannot be read (${messageOf(cause)})`;
    throw errors.data_dir_unusable(`${why}: use the service's user`, { cause });
  });
  if (found !== undefined) return;
  throw errors.not_found(
    `there is no ${LEDGER_FILE} in ${dir}: no Stackwright has worked with this data directory, and ` +
      "nothing was made there. Set DATA_DIR to the service's, as its other settings; the first " +
      "stackwright serve or apply makes it",
  );
}

/** Makes the ledger and its journals private: SQLite creates them as open as the umask allows. */
async function closeToOthers({ files }: System, path: string): Promise<void> {
  for (const each of [path, `${path}-wal`, `${path}-shm`]) {
    // The file may not exist, or may be another user's.
    await files.chmod(each, 0o600).catch(() => {});
  }
}

/** The key and a copy of the ledger, for plans; makes new ones where none exist yet. */
export async function copyState(
  settings: Settings,
  system: System,
  { ids, scratchDir }: { readonly ids: Ids; readonly scratchDir: string },
): Promise<State> {
  const { dir } = settings.data;
  const isThere = await system.files.stat(join(dir, INSTANCE_KEY_FILE)) !== undefined;
  const key = await loadInstanceKey(system.files, isThere ? dir : scratchDir);
  await copyLedger(system.files, join(dir, LEDGER_FILE), join(scratchDir, LEDGER_FILE));
  return { key, ledger: openLedger(scratchDir, system, { key, ids, shared: dir }) };
}

/**
 * Makes the key of a new data directory, so that the plans of {@link copyState} have the same ids until
 * they are carried out. Warns where that cannot be.
 */
export async function keepKey({ data: { dir } }: Settings, { files, log }: System): Promise<void> {
  if (existsNow(join(dir, LEDGER_FILE))) return;
  try {
    await files.makeDirectory(dir, { mode: 0o700 });
    await loadInstanceKey(files, dir);
  } catch (error) {
    log.warning(`this plan cannot be given to stackwright apply --plan: ${messageOf(error)}`);
  }
}

/** File name of the ledger. */
export const LEDGER_FILE = "state.db";

function openLedger(
  dir: string,
  system: System,
  { key, ids, onlyReads = false, shared = dir }: {
    readonly key: InstanceKey;
    readonly ids: Ids;
    readonly onlyReads?: boolean;
    /** The directory that other processes have, where `dir` has a copy. */
    readonly shared?: string;
  },
): Ledger {
  return new Ledger(join(dir, LEDGER_FILE), {
    key,
    clock: system.clock,
    ids,
    onlyReads,
    processes: processesOf(shared),
    redact: (text, about, isRoutine = false) =>
      system.redactor[isRoutine ? "redactKnown" : "redact"](
        text,
        "source" in about ? sourceAsOwner(about.source) : stackAsOwner(about),
      ),
    onRewritten: () =>
      system.log.error(
        `${join(dir, LEDGER_FILE)} was deleted while it is in use: it was written anew with all ` +
          "it held; stop Stackwright before you remove or restore it",
      ),
  });
}
