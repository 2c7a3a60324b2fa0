import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "./clock.ts";
import type { Files } from "./files.ts";
import { processNamespace, type ProcessOwner, systemProcessOwner } from "./process_owner.ts";

/** Purposes of private directories outside of the data directory. */
type ScratchPurpose = "git" | "own" | "plan" | "render" | "ssh";

/** The parent of such directories, the system's by default, and whose they are. */
interface ScratchPlace {
  readonly directory?: string;
  /** This process by default. */
  readonly owner?: ProcessOwner;
}

const NAME = /^stackwright-(?:git|own|plan|render|ssh)-(\d+)-(\d+)-(\d+)-[^-]+$/;
/** Time for which the directory of a process that cannot be asked for is kept. */
const STRANGERS_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Beginning of the name of a private directory of this process, for
 * {@link Files.makeTemporaryDirectory}. It says whose the directory is, so that a later process can
 * tell that its owner was killed: keys and decrypted files lie in such directories.
 */
export function scratchPrefix(
  purpose: ScratchPurpose,
  { directory = tmpdir(), owner = systemProcessOwner() }: ScratchPlace = {},
): string {
  const [pid = "0", start = "0"] = owner.id.split(":");
  return join(directory, `stackwright-${purpose}-${processNamespace()}-${pid}-${start}-`);
}

/**
 * Removes the private directories that killed processes left. Those of another
 * container on the same file system are left alone for a day. Never fails: what cannot be removed is
 * somebody else's. Returns how many were removed.
 */
export async function sweepScratch(
  { files, clock }: { readonly files: Files; readonly clock: Clock },
  { directory = tmpdir(), owner = systemProcessOwner() }: ScratchPlace = {},
): Promise<number> {
  let removed = 0;
  for (const name of await files.list(directory).catch(() => [])) {
    const [, namespace, pid, start] = NAME.exec(name) ?? [];
    if (namespace === undefined) continue;
    const path = join(directory, name);
    const info = await files.stat(path).catch(() => undefined);
    // A link of that name was not made by us.
    if (info?.kind !== "directory") continue;
    const isDead = namespace === processNamespace()
      ? !owner.isAlive(`${pid}:${start}`)
      : clock.now().getTime() - info.modifiedAt.getTime() > STRANGERS_LIFETIME_MS;
    if (isDead && await files.remove(path).then(() => true, () => false)) removed++;
  }
  return removed;
}
