import { formatStackKey, type StackKey } from "../model/mod.ts";
import { hidingSteps } from "../prepare/mod.ts";
import { type Ledger, recordedOwner } from "../record/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import { sourceAsOwner, stackAsOwner } from "../system/mod.ts";

/** Stacks to remember as looked at. */
const MOST_STACKS = 10_000;
/** Bytes of all sealed releases of a stack that are looked at before the text is told. */
const MOST_AT_ONCE = 64 * 1024;
/** Milliseconds for that in one go of the process, whatever number of stacks the texts are about. */
const MOST_MS = 50;
/** Milliseconds of work between two pauses of the same length. */
const SLICE_MS = 10;

/** Teacher of a redactor; see {@link recordedSecrets}. */
export interface RecordedSecrets {
  /** Hides the secrets of a stack; false when they are many and not all of them are hidden yet. */
  ask(key: StackKey): boolean;
  /** Begins with the stacks with many, of which no text can be told before. */
  begin(): void;
  /** Ends what is under way; the ledger is not read afterwards. */
  end(): void;
}

interface Options {
  /** Whether the caller waits for whatever there is. */
  readonly waits: boolean;
  /** Milliseconds since some time. */
  readonly now: () => number;
}

/** What was hidden of a stack. */
interface Looked {
  /** Version of the ledger then. */
  readonly version: number;
  /** Marks of the releases. */
  readonly marks: ReadonlySet<string>;
}

/**
 * Teacher of a redactor: hides the secrets of a stack's recorded releases, each once, when a text about
 * that stack is about to be told. A stack that is unchanged since an earlier process, or that another
 * process deployed, is never rendered here, and its containers print what they like.
 *
 * Where that takes long, it is done in a task with pauses, one stack after the other, the smallest first:
 * several releases of megabytes would keep everything else waiting for seconds. With `waits` nothing
 * else is waiting, as in a command.
 */
export function recordedSecrets(
  ledger: Pick<
    Ledger,
    "alive" | "current" | "deployedStacks" | "foreignVersion" | "open" | "owners"
  >,
  secrets: Pick<ExternalSecrets, "belongs" | "hide">,
  { waits = false, now = () => performance.now() }: Partial<Options> = {},
): RecordedSecrets {
  return new Teacher(ledger, secrets, { waits, now });
}

class Teacher implements RecordedSecrets {
  readonly #ledger: Parameters<typeof recordedSecrets>[0];
  readonly #secrets: Parameters<typeof recordedSecrets>[1];
  readonly #waits: boolean;
  readonly #clock: Options["now"];
  readonly #looked = new Map<string, Looked>();
  /** Stacks that the task has to look at, by name, and the bytes of their releases. */
  readonly #waiting = new Map<string, { readonly key: StackKey; readonly size: number }>();
  #isWorking = false;
  #hasEnded = false;
  /** Milliseconds spent in this go of the process. */
  #spent = 0;

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
    // What this process records it has rendered, or brought to disk: that is hidden already.
    if (this.#looked.get(name)?.version === this.#ledger.foreignVersion()) return true;
    const { size } = this.#news(key);
    if (this.#waits || size === 0 || size <= MOST_AT_ONCE && this.#spent < MOST_MS) {
      if (this.#atOnce(key)) return true;
    }
    this.#later(key, size);
    return false;
  };

  begin(): void {
    void this.#findLarge();
  }

  end(): void {
    this.#hasEnded = true;
    this.#waiting.clear();
  }

  /** Hides what there is to hide, unless that takes too long. */
  #atOnce(key: StackKey): boolean {
    const began = this.#clock();
    const before = this.#spent;
    // Whatever the next texts of this go are about, they share its time.
    if (before === 0) setTimeout(() => this.#spent = 0, 0);
    for (const _ of this.#steps(key)) {
      this.#spent = before + this.#clock() - began;
      if (!this.#waits && this.#spent > MOST_MS) return false;
    }
    return true;
  }

  #later(key: StackKey, size: number): void {
    this.#waiting.set(formatStackKey(key), { key, size });
    if (this.#isWorking || this.#hasEnded) return;
    this.#isWorking = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    const slices = new Slices();
    await slices.pause();
    for (let next = this.#smallest(); next !== undefined; next = this.#smallest()) {
      try {
        for (const _ of this.#steps(next)) {
          await slices.next();
          if (this.#hasEnded) return;
        }
      } catch {
        // The next text about it asks again, and is told: what is wrong has to be said as well.
      }
      this.#waiting.delete(formatStackKey(next));
    }
    this.#isWorking = false;
  }

  /** What waits and has the fewest: one who has much keeps others waiting for one stack of his. */
  #smallest(): StackKey | undefined {
    const [first] = [...this.#waiting.values()].sort((a, b) => a.size - b.size);
    return first?.key;
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
  *#steps(key: StackKey): Generator<void> {
    const version = this.#ledger.foreignVersion();
    const { alive, news } = this.#news(key);
    const owner = recordedOwner(this.#ledger, key)?.source;
    if (owner !== undefined) {
      const from = this.#ledger.current(key)?.revision.source.name ?? owner;
      this.#secrets.belongs(stackAsOwner(key), sourceAsOwner(owner), sourceAsOwner(from));
    }
    const failed = new Set<string>();
    for (const { recorded, mark } of news) {
      try {
        const release = this.#ledger.open(recorded);
        yield;
        yield* hidingSteps({ secrets: this.#secrets }, release);
      } catch {
        // Forgotten meanwhile, or sealed with a key that is lost: nobody will know more of it.
        failed.add(mark);
      }
    }
    const marks = alive.map(({ mark }) => mark).filter((mark) => !failed.has(mark));
    this.#remember(formatStackKey(key), { version, marks: new Set(marks) });
  }

  #remember(name: string, looked: Looked): void {
    this.#looked.delete(name);
    this.#looked.set(name, looked);
    // Anybody may ask about stacks that do not exist; one that is forgotten is looked at again.
    const [oldest] = this.#looked.keys();
    if (this.#looked.size > MOST_STACKS && oldest !== undefined) this.#looked.delete(oldest);
  }
}

/** Slices of a long work, between which others get as much time. */
class Slices {
  #began = performance.now();

  async next(): Promise<void> {
    if (performance.now() - this.#began >= SLICE_MS) await this.pause();
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, SLICE_MS));
    this.#began = performance.now();
  }
}
