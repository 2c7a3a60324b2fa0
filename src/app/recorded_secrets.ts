import { formatStackKey, type StackKey } from "../model/mod.ts";
import { hidingSteps } from "../prepare/mod.ts";
import { type Ledger, recordedOwner } from "../record/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import {
  abortable,
  authorOf,
  keepLatest,
  processorTime,
  sourceAsOwner,
  stackAsOwner,
} from "../system/mod.ts";
import { type AuthorTurn, AuthorTurns } from "./author_turns.ts";

const MOST_STACKS = 10_000;
/** Bytes of all sealed releases of a stack that are looked at before the text is told. */
const MOST_AT_ONCE = 64 * 1024;
/** Milliseconds of processor time for that in one go, whatever number of stacks texts are about. */
const MOST_MS = 50;
/** Steps in one go that are made in any case: a service with few secrets may be on a slow machine. */
const FEW_STEPS = 500;
/** Bytes of a sealed release that are worth a step. */
const STEP_BYTES = 64;
/** Looks at a stack for one who waits: other processes may go on recording releases. */
const MOST_LOOKS = 10;
/** Milliseconds of work between two pauses of the same length. */
const SLICE_MS = 10;

/** Teacher of a redactor; see {@link recordedSecrets}. */
export interface RecordedSecrets {
  /** Hides the secrets of a stack; false when they are many and not all of them are hidden yet. */
  ask(key: StackKey): boolean;
  /** Waits until the secrets of a stack are hidden, as far as that works, or until `signal` aborts. */
  learned(key: StackKey, signal: AbortSignal): Promise<void>;
  /** Begins with the stacks with many, of which no text can be told before. */
  begin(): void;
  /** Ends what is under way; the ledger is not read afterwards. */
  end(): void;
}

interface Options {
  /** Whether the caller waits for whatever there is. */
  readonly waits: boolean;
  /** Milliseconds of processor time since some time. */
  readonly now: () => number;
}

/** What was hidden of a stack. */
interface Looked {
  /** Version of the ledger then. */
  readonly version: number;
  readonly marks: ReadonlySet<string>;
  /** Marks of all releases that there were. */
  readonly alive: string;
}

/**
 * Teacher of a redactor: hides the secrets of a stack's recorded releases, each once, when a text about
 * that stack is about to be told. A stack that is unchanged since an earlier process, or that another
 * process deployed, is never rendered here, and its containers print what they like.
 *
 * Where that takes long, it is done in a task with pauses, whose authors take turns, the smallest stack of
 * each first: several releases of megabytes would keep everything else waiting for seconds. With `waits`
 * nothing else is waiting, as in a command.
 */
export function recordedSecrets(
  ledger: Pick<
    Ledger,
    "alive" | "current" | "deployedStacks" | "foreignVersion" | "open" | "owners"
  >,
  secrets: Pick<ExternalSecrets, "belongs" | "hide" | "isClosed" | "reopen">,
  { waits = false, now = processorTime }: Partial<Options> = {},
): RecordedSecrets {
  return new Teacher(ledger, secrets, { waits, now });
}

class Teacher implements RecordedSecrets {
  readonly #ledger: Parameters<typeof recordedSecrets>[0];
  readonly #secrets: Parameters<typeof recordedSecrets>[1];
  readonly #waits: boolean;
  readonly #clock: Options["now"];
  readonly #looked = new Map<string, Looked>();
  /** Stacks that the task has to look at, in steps. */
  readonly #turns = new AuthorTurns<Generator<void>>();
  /** Ends of the looks that some wait for, by stack. */
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  #isWorking = false;
  #hasEnded = false;
  /** Milliseconds spent in this go of the process. */
  #spent = 0;
  #steps = 0;

  constructor(
    ledger: Parameters<typeof recordedSecrets>[0],
    secrets: Parameters<typeof recordedSecrets>[1],
    { waits, now }: Options,
  ) {
    this.#ledger = ledger;
    this.#secrets = secrets;
    this.#waits = waits;
    this.#clock = now;
  }

  readonly ask = (key: StackKey): boolean => {
    const name = formatStackKey(key);
    if (this.#isOutdated(key, name)) {
      this.#looked.delete(name);
      this.#secrets.reopen(stackAsOwner(key));
    }
    // What this process records it has rendered, or brought to disk: that is hidden already.
    if (this.#looked.get(name)?.version === this.#ledger.foreignVersion()) return true;
    const { size } = this.#news(key);
    if (this.#waits || size === 0 || size <= MOST_AT_ONCE && !this.#isEnough()) {
      if (this.#atOnce(key, size)) return true;
    }
    this.#later(key, size);
    return false;
  };

  readonly learned = async (key: StackKey, signal: AbortSignal): Promise<void> => {
    const name = formatStackKey(key);
    for (let look = 0; look < MOST_LOOKS && !this.#hasEnded && !this.ask(key); look++) {
      const end = this.#ends.getOrInsertComputed(name, () => Promise.withResolvers<void>());
      await abortable(end.promise, signal);
    }
  };

  begin(): void {
    void this.#findLarge();
  }

  end(): void {
    this.#hasEnded = true;
    this.#turns.clear();
    for (const name of this.#ends.keys()) this.#endOf(name);
  }

  #endOf(name: string): void {
    this.#ends.get(name)?.resolve();
    this.#ends.delete(name);
  }

  /** Whether a stack had too many secrets, and has other releases since: they may have fewer. */
  #isOutdated(key: StackKey, name: string): boolean {
    const looked = this.#looked.get(name);
    return looked !== undefined && this.#secrets.isClosed(stackAsOwner(key)) &&
      looked.alive !== marksOf(this.#ledger.alive(key)).join();
  }

  #isEnough(): boolean {
    return this.#steps > FEW_STEPS && this.#spent > MOST_MS;
  }

  /** Hides what there is to hide, unless that takes too long. */
  #atOnce(key: StackKey, size: number): boolean {
    const began = this.#clock();
    const before = this.#spent;
    // Whatever the next texts of this go are about, they share its time.
    if (this.#steps === 0) setTimeout(() => this.#spent = this.#steps = 0, 0);
    this.#steps += 1 + size / STEP_BYTES;
    for (const _ of this.#stepsOf(key)) {
      this.#steps++;
      if (this.#waits || this.#steps <= FEW_STEPS) continue;
      this.#spent = before + this.#clock() - began;
      if (this.#isEnough()) return false;
    }
    this.#spent = before + this.#clock() - began;
    return true;
  }

  #later(key: StackKey, size: number): void {
    const name = formatStackKey(key);
    const owner = recordedOwner(this.#ledger, key)?.source;
    const author = owner === undefined ? name : authorOf(sourceAsOwner(owner));
    this.#turns.add(author, { name, size, work: this.#stepsOf(key) });
    if (this.#isWorking || this.#hasEnded) return;
    this.#isWorking = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    const slices = new Slices();
    await slices.pause();
    for (let turn = this.#turns.next(); turn !== undefined; turn = this.#turns.next()) {
      const began = this.#clock();
      const isDone = this.#slice(turn, slices);
      // The clock may tell of ticks alone.
      this.#turns.use(turn, Math.max(1, this.#clock() - began));
      if (isDone) {
        this.#turns.end(turn);
        this.#endOf(turn.name);
      }
      await slices.next();
    }
    this.#isWorking = false;
  }

  /** Makes steps for one author until it is time for a pause; true when its stack is done. */
  #slice({ work }: AuthorTurn<Generator<void>>, slices: Slices): boolean {
    try {
      while (!slices.isOver()) {
        if (work.next().done === true) return true;
      }
      return false;
    } catch {
      // The next text about it asks again, and is told: what is wrong has to be said as well.
      return true;
    }
  }

  async #findLarge(): Promise<void> {
    const slices = new Slices();
    await slices.pause();
    try {
      if (this.#hasEnded) return;
      for (const { key } of this.#ledger.deployedStacks()) {
        const { size } = this.#news(key);
        if (size > MOST_AT_ONCE) this.#later(key, size);
        await slices.next();
        if (this.#hasEnded) return;
      }
    } catch {
      // A ledger that cannot be read is told of by who needs it.
    }
  }

  #news(key: StackKey) {
    const marks = this.#looked.get(formatStackKey(key))?.marks;
    const alive = this.#ledger.alive(key);
    const news = alive.filter(({ mark }) => marks?.has(mark) !== true);
    return { alive, news, size: news.reduce((sum, { size }) => sum + size, 0) };
  }

  /** Hides the secrets of a stack; each step takes little, as opening one release does at most. */
  *#stepsOf(key: StackKey): Generator<void> {
    const version = this.#ledger.foreignVersion();
    const { alive, news } = this.#news(key);
    const owner = recordedOwner(this.#ledger, key)?.source;
    if (owner !== undefined) {
      const from = this.#ledger.current(key)?.revision.source.name ?? owner;
      this.#secrets.belongs(stackAsOwner(key), sourceAsOwner(owner), sourceAsOwner(from), true);
    }
    const failed = new Set<string>();
    for (const { recorded, mark } of news) {
      try {
        const release = this.#ledger.open(recorded);
        yield;
        for (const _ of hidingSteps({ secrets: this.#secrets }, release)) yield;
      } catch {
        // Forgotten meanwhile, or sealed with a key that is lost: nobody will know more of it.
        failed.add(mark);
      }
    }
    const all = marksOf(alive);
    const marks = new Set(all.filter((mark) => !failed.has(mark)));
    // Anybody may ask about stacks that do not exist; one that is forgotten is looked at again.
    const looked = { version, marks, alive: all.join() };
    keepLatest(this.#looked, MOST_STACKS, formatStackKey(key), looked);
  }
}

function marksOf(releases: readonly { readonly mark: string }[]): string[] {
  return releases.map(({ mark }) => mark);
}

/** Slices of a long work, between which others get as much time. */
class Slices {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began >= SLICE_MS;
  }

  async next(): Promise<void> {
    if (this.isOver()) await this.pause();
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, SLICE_MS));
    this.#began = performance.now();
  }
}
