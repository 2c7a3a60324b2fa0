import { join } from "node:path/posix";
import { isStackwrightError } from "../../model/mod.ts";
import { bytesBelow } from "../../system/mod.ts";
import type { GitInvocation } from "./git_command.ts";
import type { GitResult } from "./git_result.ts";
import { removeNewObjects, removeStaleLocks } from "./mirror_locks.ts";
import type { MirrorParts, Wanted } from "./mirror_parts.ts";

/** A repository on this machine that a remote sends objects for. */
interface Receiver extends Pick<Wanted, "url"> {
  readonly directory: string;
  /** Whether it has no objects yet. */
  readonly isNew: boolean;
}

/**
 * Talks to a remote as `Git.remote` does, with the room on the disk that there is for what it sends. Where there is no
 * more, what came is removed.
 *
 * Throws `data_dir_unusable` then.
 */
export async function remoteInRoom(
  { git, files, clock, disk, name }: MirrorParts,
  { directory, url, isNew }: Receiver,
  invocation: GitInvocation,
  signal: AbortSignal,
): Promise<GitResult> {
  const measure = () => bytesBelow(join(directory, "objects"), 1);
  const writing = { path: directory, owner: url.by ?? name, isNew, bytes: 0, measure };
  return await disk.run(writing, async (within) => {
    // File times lag behind the clock by a tick.
    const began = new Date(clock.now().getTime() - 50);
    try {
      return await git.remote(url, { ...invocation, gitDir: directory }, within);
    } catch (error) {
      if (within.aborted && isStackwrightError(error, "data_dir_unusable")) {
        await removeStaleLocks(files, directory, (madeAt) => madeAt >= began);
        await removeNewObjects(files, directory, began);
      }
      throw error;
    }
  }, signal);
}
