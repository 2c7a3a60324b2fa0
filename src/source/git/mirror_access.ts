import { dirname, join } from "node:path/posix";
import { keepLatest } from "../../system/mod.ts";
import { onDisk } from "../disk_error.ts";
import { fetchArgs } from "./git_command.ts";
import { mirrorError, type MirrorParts, type MirrorRequest } from "./mirror_parts.ts";
import { remoteInRoom } from "./remote_in_room.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Most answers that one mirror remembers: authors may make up any number of logins. */
const MOST_ANSWERS = 100;
/** Milliseconds for which an answer of the remote tells that a login may have a commit. */
const ANSWER_MS = 60 * 1000;

/** Asks a remote whether it gives commits that its mirror has to the logins that name them by their ids. */
export class MirrorAccess {
  readonly #parts: MirrorParts;
  /** When the remote gave a commit to a login, in milliseconds since 1970. */
  readonly #given = new Map<string, number>();

  constructor(parts: MirrorParts) {
    this.#parts = parts;
  }

  /** Remembers that the remote named a commit to the login of a URL. */
  note(url: RepositoryUrl, id: string): void {
    keepLatest(this.#given, MOST_ANSWERS, keyOf(url, id), this.#parts.clock.now().getTime());
  }

  /**
   * Requires that the login of a URL may have a commit that the mirror has: a request with another login
   * may have fetched it, and commit ids are no secrets. Only the remote knows: it may hide branches from some
   * of its readers, and what was public may be private or gone by now. Calls `search`, which throws when
   * the commit is not found in what the login sees, where the remote gives no commit by this id.
   */
  async require(
    { url, round }: Pick<MirrorRequest, "url" | "round">,
    id: string,
    search: (signal: AbortSignal) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, git } = this.#parts;
    const since = this.#given.get(keyOf(url, id)) ?? -Infinity;
    if (Math.abs(clock.now().getTime() - since) < ANSWER_MS) return;
    const ask = async (shared: AbortSignal) => {
      if (!await this.#isGiven(url, id, shared)) await search(shared);
      this.note(url, id);
      return { ids: new Map([[id, id]]), head: undefined };
    };
    await git.asking({ url, names: [id], round }, ask, signal);
  }

  /**
   * Whether the remote gives a commit by its id. Git asks nobody for what is here unless the history is to
   * be cut, which must not happen to the mirror: so it fetches into an empty repository that has the
   * commit, without its history, from the mirror. Then the remote has nothing to send.
   */
  async #isGiven(url: RepositoryUrl, id: string, signal: AbortSignal): Promise<boolean> {
    const { git, files, directory } = this.#parts;
    if (await git.gives(url, id, signal)) return true;
    return await onDisk(directory, async () => {
      const gitDir = await files.makeTemporaryDirectory(join(dirname(directory), ".tmp-asked-"));
      try {
        const content = {
          "HEAD": "ref: refs/heads/none",
          "shallow": id,
          "refs/heads/here": id,
          "objects/info/alternates": join(directory, "objects"),
        };
        for (const [name, line] of Object.entries(content)) {
          await files.makeDirectory(dirname(join(gitDir, name)));
          await files.write(join(gitDir, name), `${line}\n`);
        }
        const asked = [`+${id}:refs/heads/asked`];
        const args = fetchArgs(url.remote, asked, { kind: "commits", count: 1 });
        const receiver = { directory: gitDir, url, isNew: false };
        const result = await remoteInRoom(this.#parts, receiver, { args }, signal);
        if (result.failure === "transient" || result.failure === "denied") {
          throw mirrorError(this.#parts, result, `asking for ${id}`);
        }
        return result.failure === undefined;
      } finally {
        await files.remove(gitDir);
      }
    });
  }
}

function keyOf({ remote, user, password }: RepositoryUrl, id: string): string {
  return JSON.stringify([remote, user, password, id]);
}
