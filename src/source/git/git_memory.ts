import {
  type Command,
  createFairLimiter,
  type FairLimiter,
  isOfMemory,
  SharedMemory,
} from "../../system/mod.ts";

const MIB = 1024 * 1024;

/** Bytes of memory for a program of git outside of any mirror: ten times what most have. */
const LITTLE = 256 * MIB;
/** The same for one that answers questions about objects, and stays for a while after them. */
const LITTLE_FOR_ANSWERS = 64 * MIB;
/** The most for one that answers a question about an object for which that is too little. */
const MUCH_FOR_ANSWERS = 512 * MIB;
/** Bytes of memory for all programs that wait for no turn together, and for those that answer questions. */
const TOGETHER = { working: 1024 * MIB, answering: 512 * MIB };

/** Bounds of the memory of one program. */
type MemoryBounds = Pick<Command, "mostMemory" | "sharedMemory">;

/** A piece of work of git that can be begun again. */
interface Work<T> {
  /** Whose work it is, by whom memory and turns are counted. */
  readonly who: string;
  /** Whether it gets no more than little, and no turn. */
  readonly isLittle?: boolean;
  /** Whether a remote decides how long it takes: such work waits for other such work alone. */
  readonly isRemote: boolean;
  /** Whether it is known that little is not enough. */
  readonly isLarge: boolean;
  readonly run: (bounds: MemoryBounds, isAgain: boolean) => Promise<T>;
  /** Whether a result says that the memory was too little. */
  readonly isShort: (result: T) => boolean;
}

/**
 * Memory of the programs of git. What each takes is up to authors: a delta of thirteen bytes may have a
 * base of gigabytes. So there is a bound for all of them together; one that needs more by itself, or has the
 * most of who has the most where that is too much, begins again with much, one at a time, in turn of those whose
 * work it is. A turn lasts as long as an author likes: who needs no more than is left waits for none.
 */
export class GitMemory {
  readonly #most: number;
  readonly #working = new SharedMemory(TOGETHER.working);
  readonly #answering = new SharedMemory(TOGETHER.answering);
  readonly #turns: Readonly<Record<"local" | "remote", FairLimiter>> = {
    local: createFairLimiter(1),
    remote: createFairLimiter(1),
  };

  /** `most` are the bytes for a program that has its turn. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bounds of a program that answers questions for `who`; of one whose turn it is where `isLarge`. */
  forAnswers(who: string, isLarge: boolean): MemoryBounds {
    if (isLarge) return { mostMemory: Math.min(this.#most, MUCH_FOR_ANSWERS) };
    const mostMemory = Math.min(this.#most, LITTLE_FOR_ANSWERS);
    return { mostMemory, sharedMemory: this.#answering.of(who) };
  }

  /** Runs a piece of work with the memory that is left, and again with much in its turn where that was too little. */
  async run<T>(work: Work<T>, signal: AbortSignal): Promise<T> {
    const { who, isLittle = false, isRemote, isLarge, run, isShort } = work;
    const mostMemory = this.#most;
    const most = isLittle ? LITTLE : TOGETHER.working;
    const isBounded = isLittle || mostMemory <= most;
    if (!isLarge) {
      const sharedMemory = this.#working.of(who);
      const bounds = { mostMemory: Math.min(mostMemory, most), sharedMemory };
      try {
        const result = await run(bounds, false);
        if (isBounded || !isShort(result)) return result;
      } catch (error) {
        if (isBounded || !isOfMemory(error)) throw error;
      }
    }
    const turns = this.#turns[isRemote ? "remote" : "local"];
    return await turns.run(who, () => run({ mostMemory }, !isLarge), signal);
  }
}
