import type { Clock } from "./clock.ts";
import { FairPlaces, type Whose } from "./fair_places.ts";
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
 * to others. Each host has as many places as there are slots, which sources of configurations share
 * ({@link FairPlaces}); who gets none waits, without a slot. So no source and no host keeps the places of others,
 * and for eight slots one host has at most twenty, and sixteen for those who waited long. Where all places of all hosts are taken, by as many sources as
 * there are, one without any still gets one, as far as its own host has a share for it.
 */
export class Shares {
  readonly #clock: Clock;
  readonly #places: FairPlaces;

  constructor(clock: Clock, slots: number) {
    this.#clock = clock;
    const some = Math.max(1, slots);
    this.#places = new FairPlaces(
      clock,
      (key) =>
        key === ALL
          ? { places: TIMES * some, mostForFirst: TIMES_FOR_FIRST * some }
          : { places: some, mostForFirst: some },
    );
  }

  /** What waits for somebody else in work that has this slot, and has it again afterwards. */
  lender(slot: Slot, whose: Whose, signal: AbortSignal): Lend {
    let away = 0;
    return async (hosts, work, onWait) => {
      const keys = [ALL, ...new Set(hosts)] as const;
      const ended = new AbortController();
      let isAway = false;
      const leave = () => {
        if (ended.signal.aborted) return;
        isAway = true;
        away++;
        slot.leave();
      };
      let free = this.#places.take(whose, keys);
      if (free !== undefined) {
        this.#clock.sleep(LENT_AFTER_MS, ended.signal).then(leave, () => {});
      } else {
        leave();
        onWait?.();
        free = await this.#places.place(whose, keys, signal);
      }
      try {
        return await work();
      } finally {
        ended.abort("ended");
        free();
        if (isAway && --away === 0) {
          await slot.takeAgain(signal);
          // Another part of the work may have left meanwhile.
          if (away > 0) slot.leave();
        }
      }
    };
  }
}
