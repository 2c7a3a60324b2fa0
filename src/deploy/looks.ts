import type { Engine } from "../docker/engine.ts";
import { COMPOSE_LABELS, type StackKey } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";

/** Milliseconds between two looks at a stack when nothing is heard of it. */
export const SAMPLE_INTERVAL_MS = 1000;

/** The events after which something may be as it is waited for, or cannot become so any more. */
const ACTIONS = ["start", "die", "health_status", "destroy", "pause", "unpause", "rename"];

interface LookParts {
  readonly engine: Pick<Engine, "containerEvents">;
  readonly clock: Clock;
  readonly key: StackKey;
}

/** Moments to look at a stack again. */
export interface Looks {
  /**
   * Waits for the next moment: `event` as soon as something happened to a container, or an alarm went
   * off, since the last one, else `interval` when {@link SAMPLE_INTERVAL_MS} passed since the last
   * `interval`.
   */
  next(): Promise<"event" | "interval">;
  /** Makes a moment after a time from now. */
  alarm(milliseconds: number): Alarm;
}

/** A time that passes. */
export interface Alarm {
  /** Whether it has passed. */
  readonly isOver: boolean;
  stop(): void;
}

/**
 * Runs work that looks at a stack again and again. What the engine tells only makes looks come sooner:
 * where its events cannot be had, or end, the interval is left.
 */
export async function withLooks<T>(
  parts: LookParts,
  work: (looks: Looks) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const end = new AbortController();
  const within = AbortSignal.any([signal, end.signal]);
  const bell = new Bell();
  const listening = listen(parts, bell, within);
  const { clock } = parts;
  let pause: Promise<void> | undefined;
  try {
    return await work({
      async next() {
        pause ??= clock.sleep(SAMPLE_INTERVAL_MS, within).catch(() => {});
        const heard = await Promise.race([bell.rung.then(() => true), pause.then(() => false)]);
        within.throwIfAborted();
        if (heard) bell.reset();
        else pause = undefined;
        return heard ? "event" : "interval";
      },
      alarm: (milliseconds) => startAlarm(clock, milliseconds, bell, within),
    });
  } finally {
    end.abort();
    await listening;
  }
}

/** Something that rings once, until it is reset. */
class Bell {
  #ring = () => {};
  rung: Promise<void> = new Promise((resolve) => this.#ring = resolve);

  ring(): void {
    this.#ring();
  }

  reset(): void {
    this.rung = new Promise((resolve) => this.#ring = resolve);
  }
}

async function listen({ engine, key }: LookParts, bell: Bell, signal: AbortSignal): Promise<void> {
  const options = { labels: { [COMPOSE_LABELS.project]: key.name }, actions: ACTIONS };
  try {
    for await (const _event of engine.containerEvents(options, signal)) bell.ring();
  } catch {
    // The interval is left; whoever looks finds out by that look why the engine does not answer.
  }
}

function startAlarm(clock: Clock, milliseconds: number, bell: Bell, signal: AbortSignal): Alarm {
  if (milliseconds <= 0) return { isOver: true, stop: () => {} };
  const end = new AbortController();
  let isOver = false;
  clock.sleep(milliseconds, AbortSignal.any([signal, end.signal])).then(() => {
    isOver = true;
    bell.ring();
  }, () => {});
  return {
    get isOver() {
      return isOver;
    },
    stop: () => end.abort(),
  };
}
