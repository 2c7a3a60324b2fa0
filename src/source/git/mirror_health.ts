import { join } from "node:path/posix";
import { isStackwrightError, StackwrightError, wholeSeconds } from "../../model/mod.ts";
import { damagedError, isDamaged, isSuspicious } from "./git_failure.ts";
import type { GitResult } from "./git_result.ts";
import { GrowingPauses } from "./growing_pauses.ts";
import type { MirrorParts } from "./mirror_parts.ts";

/** Exit codes beyond it are those of signals. */
const LARGEST_CODE = 128;

/**
 * Whether a mirror is damaged, and how often it is made anew. git looks at it without a remote: what a
 * remote prints may be anything, and over SSH nothing tells it from git's own words.
 */
export class MirrorHealth {
  readonly #parts: MirrorParts;
  readonly #looks: GrowingPauses;
  readonly #repairs: GrowingPauses;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
    this.#looks = new GrowingPauses(parts.clock);
    this.#repairs = new GrowingPauses(parts.clock);
  }

  /** Whether the mirror is what made a fetch fail. All of it is read where the error gives a reason to. */
  async isDamaged(error: unknown, signal: AbortSignal): Promise<boolean> {
    if (isDamaged(error)) return true;
    if (!(error instanceof StackwrightError) || signal.aborted) return false;
    try {
      if (await this.#lacksTips(signal)) return true;
      if (!isSuspicious(error) || this.#looks.until() !== undefined) return false;
      return await this.#looks.before(() => this.#lacksAny(signal));
    } catch (cause) {
      // Limits end the look at a mirror that is too large; that says nothing of it.
      if (isStackwrightError(cause)) return false;
      throw cause;
    }
  }

  /**
   * Repairs the mirror with `work`. Throws the error of a damaged mirror instead while the last repair is
   * not long ago: a repair fetches everything, and what damages the mirror, or the remote, may stay.
   */
  async repairing<T>(work: () => Promise<T>): Promise<T> {
    const until = this.#repairs.until();
    if (until === undefined) return await this.#repairs.before(work);
    throw damagedError(
      `the mirror of ${this.#parts.name} is damaged, and was fetched anew not long ago; that is tried ` +
        `again after ${wholeSeconds(until)}. Is the disk of the data directory all right?`,
    );
  }

  /** Whether settings, references or the objects that these lead to cannot be read. Takes milliseconds. */
  async #lacksTips(signal: AbortSignal): Promise<boolean> {
    const { files, directory } = this.#parts;
    if (await files.stat(join(directory, "HEAD")) === undefined) return false;
    const found = await this.#ask(["for-each-ref", "--format=%(objecttype)"], signal);
    return failed(found) || /^warning: ignoring broken ref /m.test(found.stderr);
  }

  /** Whether any object is missing or cannot be read. Reads all of them. */
  async #lacksAny(signal: AbortSignal): Promise<boolean> {
    const { files, directory } = this.#parts;
    const packs = join(directory, "objects", "pack");
    const indexes = (await files.list(packs)).filter((name) => name.endsWith(".idx"))
      .map((name) => join(packs, name));
    const args = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"];
    return failed(await this.#ask(args, signal)) ||
      indexes.length > 0 && failed(await this.#ask(["verify-pack", "--", ...indexes], signal));
  }

  #ask(args: readonly string[], signal: AbortSignal): Promise<GitResult> {
    const { git, directory } = this.#parts;
    return git.local({ args, gitDir: directory }, signal);
  }
}

/** Whether a look ended with bad news of the mirror, and not for want of memory or by a limit. */
function failed({ code, failure }: GitResult): boolean {
  return code <= LARGEST_CODE && (failure === "corrupt" || failure === "other");
}
