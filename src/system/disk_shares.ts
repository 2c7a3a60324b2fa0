import { atEnd } from "./at_end.ts";
import { errors, type StackwrightError } from "../model/mod.ts";
import { abortable } from "./abortable.ts";
import { count } from "./count.ts";
import { type DiskUse, roomAt, shortage } from "./disk_room.ts";
import type { Files } from "./files.ts";

/** Pause between two looks at the free space, in milliseconds: within it a fast remote sends 100 MB. */
const EVERY_MS = 100;

/** Work that writes to the disk for as long as others decide. */
interface Writing extends DiskUse {
  /** Directory that it writes below. */
  readonly path: string;
  /** Whose work it is: what all work of one owner has written counts together. */
  readonly owner: string;
  /** Bytes that are there now; absent for work that knows its `bytes` before. */
  readonly measure?: () => Promise<number>;
}

/** The same while it goes on. */
interface Under extends Writing {
  /** Bytes that were there before. */
  readonly before: number;
  readonly ended: AbortController;
  /** Resolves when it is over and has removed what it wrote. */
  readonly over: Promise<void>;
}

interface Taken {
  readonly under: Under;
  readonly bytes: number;
}

/**
 * The disk as it is shared by work whose size its authors decide, such as fetches. Each begins while there is room
 * beyond the reserve of `requireRoom`, but none knows what the others will write. So the free space is
 * watched while any goes on: where the reserve is touched, work of the owner who has written the most is ended,
 * what wrote the most of it first, one at a time. So it is where new work finds no room, of an owner who has more
 * than that one's would have then, or than each had if all had the same.
 */
export class DiskShares {
  readonly #files: Pick<Files, "room">;
  readonly #under = new Set<Under>();
  #isLooking = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(files: Pick<Files, "room">) {
    this.#files = files;
  }

  /**
   * Does work that writes below `path`, with a signal that ends for the disk, too. Where that ends it, the work removes
   * what it wrote before it rejects with the signal's reason: until then no other work is ended.
   *
   * Throws `data_dir_unusable` when there is no room for it, or no more.
   */
  async run<T>(
    writing: Writing,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    await this.#makeRoom(writing, signal);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const ended = new AbortController();
    const before = await writing.measure?.() ?? 0;
    const under = { ...writing, before, ended, over };
    this.#under.add(under);
    this.#timer ??= setInterval(() => void this.#look(), EVERY_MS);
    try {
      return await work(AbortSignal.any([signal, ended.signal]));
    } finally {
      this.#under.delete(under);
      resolve();
      if (this.#under.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  /** Ends work of the owner with the most, where that is too much, until there is room for `writing`. */
  async #makeRoom(writing: Writing, signal: AbortSignal): Promise<void> {
    const { path, owner } = writing;
    for (;;) {
      const short = shortage(await roomAt(this.#files, path), path, writing);
      if (short === undefined) return;
      const ending = [...this.#under].find(({ ended }) => ended.signal.aborted);
      if (ending !== undefined) {
        await abortable(ending.over, signal);
        continue;
      }
      const all = await this.#taken([...this.#under]);
      const largest = largestOf(all);
      const owned = (by: string | undefined) =>
        sumOf(all.filter(({ under }) => under.owner === by));
      const others = all.filter(({ under }) => under.owner !== owner);
      const owners = new Set([owner, ...others.map(({ under }) => under.owner)]);
      const share = (sumOf(all) + writing.bytes - short.bytes) / owners.size;
      const isTheirs = largest !== undefined && largest.under.owner !== owner &&
        owned(largest.under.owner) > Math.min(owned(owner) + writing.bytes, share);
      // What others have written is not what is missing: their work would be lost for nothing.
      if (!isTheirs || sumOf(others) < short.bytes) throw short.error;
      end(largest, short.error);
      await abortable(largest.under.over, signal);
    }
  }

  /** Ends the largest work of the owner with the most where the reserve is touched. */
  async #look(): Promise<void> {
    const [first] = this.#under;
    if (first === undefined || this.#isLooking) return;
    this.#isLooking = true;
    using _ = atEnd(() => this.#isLooking = false);
    const room = await roomAt(this.#files, first.path);
    const errorOf = (each: Under) =>
      shortage(room, each.path, { isNew: each.isNew, bytes: 0 })?.error;
    const short = [...this.#under].filter((each) => errorOf(each) !== undefined);
    if (short.length === 0 || [...this.#under].some(({ ended }) => ended.signal.aborted)) return;
    const largest = largestOf(await this.#taken(short));
    const error = largest && errorOf(largest.under);
    if (largest !== undefined && error !== undefined) end(largest, error);
  }

  async #taken(all: readonly Under[]): Promise<Taken[]> {
    return await Promise.all(all.map(async (under) => {
      const now = await under.measure?.();
      return { under, bytes: now === undefined ? under.bytes : Math.max(0, now - under.before) };
    }));
  }
}

function end({ under, bytes }: Taken, { message }: StackwrightError): void {
  const written = `${Math.round(bytes / 1024 ** 2)} MiB`;
  under.ended.abort(errors.data_dir_unusable(
    `${message}. This had taken ${written}, and what goes on for ${under.owner} the most, so it was ended`,
  ));
}

function sumOf(all: readonly Taken[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** What wrote the most of the owner whose work wrote the most together; `undefined` for none. */
function largestOf(all: readonly Taken[]): Taken | undefined {
  const owners = new Map<string, number>();
  for (const { under, bytes } of all) count(owners, under.owner, bytes);
  const ofOwner = ({ under }: Taken) => owners.get(under.owner) ?? 0;
  const [largest] = [...all].sort((one, other) =>
    ofOwner(other) - ofOwner(one) || other.bytes - one.bytes
  );
  return largest;
}
