import type { Engine } from "../docker/engine.ts";
import { COMPOSE_LABELS, type StackKey } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";

/** Milliseconds between two looks at a stack without events. */
export const SAMPLE_INTERVAL_MS = 1000;

/** Events that may meet a wait, or make it hopeless. */
const ACTIONS = ["start", "die", "health_status", "destroy", "pause", "unpause", "rename"];

interface LookParts {
  readonly engine: Pick<Engine, "containerEvents">;
  readonly clock: Clock;
  readonly key: StackKey;
}

/** Moments to look at a stack again. */
export interface Looks {
  /**
   * Waits for the next moment: `event` as soon as a container event or an alarm occurred since the
   * last moment, else `interval` when {@link SAMPLE_INTERVAL_MS} passed since the last `interval`.
   */
  next(): Promise<"event" | "interval">;
  /** Adds a moment after that time. */
  alarm(milliseconds: number): Alarm;
}

/** A time that runs out. */
export interface Alarm {
  readonly isOver: boolean;
  stop(): void;
}

/**
 * Runs work that looks at a stack again and again. Events of the engine only make looks come
 * sooner: without them the interval remains.
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

/** A promise that is fulfilled by ringing and can be reset. */
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
    // The interval remains, and the next look meets the engine's error itself.
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
