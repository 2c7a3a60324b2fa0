import type { Clock } from "./clock.ts";
import type { Slot } from "./limiter.ts";

/** Milliseconds for which something that others decide the length of keeps the slot of who waits for it. */
const LENT_AFTER_MS = 2000;

/** Runs what others may make as long as they like: a remote that says nothing does so for minutes. */
export type Lend = <T>(host: string | undefined, work: () => Promise<T>) => Promise<T>;

interface Leaving extends Pick<Waiting, "turn"> {
  readonly leave: () => void;
  readonly comeBack: () => Promise<void>;
}

interface Waiting {
  /** Who began first goes first: who began holds what it has read. */
  readonly turn: number;
  readonly keys: readonly string[];
  readonly admit: () => void;
}

/**
 * Bounds what waits for somebody else, beside the slots of who waits. Each source has as many places as
 * there are slots, and each host half as many more; who finds them taken waits without a slot, and
 * whatever takes long gives its slot to others, as long as these are not more than twice the slots. So
 * neither fills all slots, and nobody who has a place waits for a slot before it is given back.
 */
export class Shares {
  readonly #clock: Clock;
  readonly #slots: number;
  readonly #taken = new Map<string, number>();
  /** By their turns. */
  readonly #waiting: Waiting[] = [];
  #lenders = 0;

  constructor(clock: Clock, slots: number) {
    this.#clock = clock;
    this.#slots = Math.max(1, slots);
  }

  /** What waits for somebody else in work that has this slot, and has it again afterwards. */
  lender(slot: Slot, owner: string, signal: AbortSignal): Lend {
    const turn = this.#lenders++;
    let away = 0;
    const leave = () => {
      away++;
      slot.leave();
    };
    const comeBack = async () => {
      if (--away > 0) return;
      await slot.takeAgain(signal);
      // Another part of the work may have left meanwhile.
      if (away > 0) slot.leave();
    };
    return (host, work) => this.#run(keysOf(owner, host), { turn, leave, comeBack }, work, signal);
  }

  async #run<T>(
    keys: readonly string[],
    { turn, leave, comeBack }: Leaving,
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const ended = new AbortController();
    const held = [...keys];
    let isAway = false;
    const lend = () => {
      if (ended.signal.aborted || !this.#take([LENT])) return;
      held.push(LENT);
      isAway = true;
      leave();
    };
    if (this.#take(keys)) this.#clock.sleep(LENT_AFTER_MS, ended.signal).then(lend, () => {});
    else {
      isAway = true;
      leave();
      held.push(LENT);
      await this.#place({ keys: held, turn }, signal);
    }
    try {
      return await work();
    } finally {
      ended.abort();
      this.#free(held);
      if (isAway) await comeBack();
    }
  }

  /** Work that has slots finds its source's share free unless that takes long; the rest of a host is others'. */
  #mostOf(key: string): number {
    if (key === LENT) return 2 * this.#slots;
    return key.startsWith(HOST) ? Math.ceil(1.5 * this.#slots) : this.#slots;
  }

  #take(keys: readonly string[]): boolean {
    if (keys.some((key) => (this.#taken.get(key) ?? 0) >= this.#mostOf(key))) return false;
    for (const key of keys) this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    return true;
  }

  #place(place: Omit<Waiting, "admit">, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const waiting = { ...place, admit };
      signal.addEventListener("abort", onAbort, { once: true });
      const at = this.#waiting.findLastIndex(({ turn }) => turn <= place.turn);
      this.#waiting.splice(at + 1, 0, waiting);
    });
  }

  #free(keys: readonly string[]): void {
    for (const key of keys) {
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left === 0) this.#taken.delete(key);
      else this.#taken.set(key, left);
    }
    for (let at = 0; at < this.#waiting.length;) {
      const waiting = this.#waiting[at];
      if (waiting === undefined || !this.#take(waiting.keys)) at++;
      else {
        this.#waiting.splice(at, 1);
        waiting.admit();
      }
    }
  }
}

/** The place of what is waited for without a slot. */
const LENT = "lent";
const HOST = "host ";

function keysOf(owner: string, host: string | undefined): readonly string[] {
  return host === undefined ? [`owner ${owner}`] : [`owner ${owner}`, `${HOST}${host}`];
}
