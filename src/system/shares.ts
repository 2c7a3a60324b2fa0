import { abortableWait } from "./abortable_wait.ts";
import type { Clock } from "./clock.ts";
import { count } from "./count.ts";
import type { Slot } from "./limiter.ts";

/** Milliseconds after which waiting for an external party gives the slot to others. */
const LENT_AFTER_MS = 2000;

/**
 * Runs work whose duration external parties decide: remotes, registries, secret stores, builds. `hosts`
 * names the parties; `onWait` is called when no place is free yet.
 */
export type Lend = <T>(
  hosts: readonly string[],
  work: () => Promise<T>,
  onWait?: () => void,
) => Promise<T>;

/** All hosts together, by a name that none has, and how many times the places of one they have. */
const ALL = " all";
const TIMES = 4;
/** The same for owners that have no place yet: hosts that say nothing to others keep them from none that answers. */
const TIMES_FOR_FIRST = 16;

/**
 * Bounds what waits for somebody else, beside the slots of who waits: whatever takes long gives its slot
 * to others. Each host has as many places as there are slots. Where all are taken, an owner still gets
 * one while it has fewer than its share, which is what there is divided by all that have some; who has no
 * less waits, without a slot. So no owner and no host keeps the places of others, and for eight slots
 * one host has at most twenty. Where all places of all hosts are taken, by as many owners as there are,
 * an owner without any still gets one, as far as its own host has a share for it.
 */
export class Shares {
  readonly #clock: Clock;
  readonly #slots: number;
  /** Numbers of places by host and owner. */
  readonly #taken = new Map<string, Map<string, number>>();
  /** Owners of those who wait, by who tries to enter, in order of arrival. */
  readonly #waiting = new Map<() => void, string>();

  constructor(clock: Clock, slots: number) {
    this.#clock = clock;
    this.#slots = Math.max(1, slots);
  }

  /** What waits for somebody else in work of an owner that has this slot, and has it again afterwards. */
  lender(slot: Slot, owner: string, signal: AbortSignal): Lend {
    let away = 0;
    return async (hosts, work, onWait) => {
      const keys = [ALL, ...new Set(hosts)];
      const ended = new AbortController();
      let isAway = false;
      const leave = () => {
        if (ended.signal.aborted) return;
        isAway = true;
        away++;
        slot.leave();
      };
      if (this.#take(owner, keys)) {
        this.#clock.sleep(LENT_AFTER_MS, ended.signal).then(leave, () => {});
      } else {
        leave();
        onWait?.();
        await this.#place(owner, keys, signal);
      }
      try {
        return await work();
      } finally {
        ended.abort("ended");
        this.#free(owner, keys);
        if (isAway && --away === 0) {
          await slot.takeAgain(signal);
          // Another part of the work may have left meanwhile.
          if (away > 0) slot.leave();
        }
      }
    };
  }

  #take(owner: string, keys: readonly string[]): boolean {
    if (!keys.every((key) => this.#hasPlace(owner, key))) return false;
    for (const key of keys) count(this.#taken.getOrInsertComputed(key, () => new Map()), owner, 1);
    return true;
  }

  #hasPlace(owner: string, key: string): boolean {
    const places = key === ALL ? TIMES * this.#slots : this.#slots;
    const owners = this.#taken.get(key) ?? new Map<string, number>();
    const own = owners.get(owner) ?? 0;
    const share = Math.floor(places / (owners.size + (own === 0 ? 1 : 0)));
    const most = key === ALL && own === 0 ? TIMES_FOR_FIRST * this.#slots : places;
    return own < share || owners.values().reduce((sum, each) => sum + each, 0) < most;
  }

  #place(owner: string, keys: readonly string[], signal: AbortSignal): Promise<void> {
    return abortableWait((entered) => {
      const leave = () => this.#waiting.delete(enter);
      const enter = () => {
        if (!this.#take(owner, keys)) return;
        leave();
        entered();
      };
      this.#waiting.set(enter, owner);
      return leave;
    }, signal);
  }

  #free(owner: string, keys: readonly string[]): void {
    for (const key of keys) {
      const owners = this.#taken.get(key);
      if (owners !== undefined) count(owners, owner, -1);
      if (owners?.size === 0) this.#taken.delete(key);
    }
    // Owners with the fewest places enter first.
    const own = (each: string) => this.#taken.get(ALL)?.get(each) ?? 0;
    const inOrder = [...this.#waiting].sort(([, one], [, other]) => own(one) - own(other));
    for (const [enter] of inOrder) enter();
  }
}
