import type { ContainerEvent } from "../docker/mod.ts";
import { messageOf } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";

/** Ports for following the events of an engine. */
export interface EventStreamParts {
  /** Opens a stream; `since` is in nanoseconds since 1970. Throws when it ends. */
  readonly events: (since: bigint, signal: AbortSignal) => AsyncIterable<ContainerEvent>;
  /** Told of each event once. Must not throw. */
  readonly onEvent: (event: ContainerEvent) => void;
  /** Told whenever something may have been missed. */
  readonly onGap: () => void;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** Milliseconds before a stream that ended is opened again, doubling, and the longest of these. */
const PAUSE_MS = { first: 1_000, longest: 30_000 } as const;
/** Pauses for which a stream has to last to be a good one: each new one has everything looked at. */
const LASTS = 10;
/** Overlap of a new stream with the last event: times are rounded, and events come in any order. */
const OVERLAP_NS = 1_000_000_000n;

/**
 * Follows the events of an engine for ever: a stream that ends is opened again where it ended, and what
 * came before is not told twice. Returns when `signal` aborts.
 */
export async function followEvents(parts: EventStreamParts, signal: AbortSignal): Promise<void> {
  const { clock, log, random } = parts;
  const told = new Told(BigInt(clock.now().getTime()) * 1_000_000n);
  let pause: number = PAUSE_MS.first;
  let opened = 0;
  for (let isOut = false; !signal.aborted;) {
    try {
      parts.onGap();
      opened = clock.now().getTime();
      for await (const event of parts.events(told.since, signal)) {
        if (isOut) log.info("the engine tells its events again");
        isOut = false;
        if (told.isNew(event)) parts.onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isOut) {
        log.warning(`the engine's events ended, and are asked for again: ${messageOf(error)}`);
      }
      isOut = true;
    }
    const lasted = clock.now().getTime() - opened;
    if (lasted >= LASTS * pause) pause = PAUSE_MS.first;
    await clock.sleep(pause * (0.5 + random() / 2), signal).catch(() => {});
    pause = Math.min(2 * pause, PAUSE_MS.longest);
  }
}

const LONGEST_SIGNAL = 20;
/** Events that are remembered as told; there are never so many in the second of an overlap. */
const MOST_TOLD = 10_000;

/** The events that were told lately. */
class Told {
  readonly #times = new Map<string, bigint>();
  #newest: bigint;

  constructor(start: bigint) {
    this.#newest = start;
  }

  /** Where a new stream begins. */
  get since(): bigint {
    return this.#newest - OVERLAP_NS;
  }

  /** Whether an event was not told yet; from then on it was. */
  isNew({ time, containerId, action, detail, attributes }: ContainerEvent): boolean {
    const signal = (attributes["signal"] ?? "").slice(0, LONGEST_SIGNAL);
    const name = `${time} ${containerId} ${action} ${detail} ${signal}`;
    if (this.#times.has(name)) return false;
    this.#times.set(name, time);
    if (time > this.#newest) this.#newest = time;
    for (const [known, at] of this.#times) {
      // An engine on another machine says what it likes of the time.
      if (at >= this.since && this.#times.size <= MOST_TOLD) break;
      this.#times.delete(known);
    }
    return true;
  }
}
