import type { ContainerEvent } from "../docker/mod.ts";
import { messageOf } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";

/** Ports for following the events of an engine. */
export interface EventStreamParts {
  /** Opens a stream; `since` is in nanoseconds since 1970. Throws when it ends. */
  readonly events: (since: bigint, signal: AbortSignal) => AsyncIterable<ContainerEvent>;
  /** Receives each event once. Must not throw. */
  readonly onEvent: (event: ContainerEvent) => void;
  /** Called whenever events may have been missed. */
  readonly onGap: () => void;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** Milliseconds before an ended stream is reopened: the first, doubling, and the longest. */
const PAUSE_MS = { first: 1_000, longest: 30_000 } as const;
/** Pauses that a stream must last to reset the pause: each new one has everything looked at. */
const LASTS = 10;
/** Overlap of a new stream with the last event: times are rounded, and events come out of order. */
const OVERLAP_NS = 1_000_000_000n;

/** Follows the events of an engine until `signal` aborts; reopens streams without repeating any. */
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
/** Events to remember as told; the second of overlap never has as many. */
const MOST_TOLD = 10_000;

/** The events that were told lately. */
class Told {
  readonly #times = new Map<string, bigint>();
  #newest: bigint;

  constructor(start: bigint) {
    this.#newest = start;
  }

  /** Start of a new stream. */
  get since(): bigint {
    return this.#newest - OVERLAP_NS;
  }

  /** Whether an event was not told yet; marks it as told. */
  isNew({ time, containerId, action, detail, attributes }: ContainerEvent): boolean {
    const signal = (attributes["signal"] ?? "").slice(0, LONGEST_SIGNAL);
    const name = `${time} ${containerId} ${action} ${detail} ${signal}`;
    if (this.#times.has(name)) return false;
    this.#times.set(name, time);
    if (time > this.#newest) this.#newest = time;
    for (const [known, at] of this.#times) {
      // An engine on another machine may send any time.
      if (at >= this.since && this.#times.size <= MOST_TOLD) break;
      this.#times.delete(known);
    }
    return true;
  }
}
