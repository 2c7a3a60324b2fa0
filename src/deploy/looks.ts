import type { Engine } from "../docker/engine.ts";
import type { ContainerEvent } from "../docker/events.ts";
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
  /** How a container ended the last time, in words; `undefined` where no event told of it. */
  ended(id: string): string | undefined;
}

/** A time that runs out. */
export interface Alarm {
  readonly isOver: boolean;
  stop(): void;
}

/** Runs work that looks at a stack time and again, at intervals; events of the engine make looks come sooner. */
export async function withLooks<T>(
  parts: LookParts,
  work: (looks: Looks) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const end = new AbortController();
  const within = AbortSignal.any([signal, end.signal]);
  const [bell, ends] = [new Bell(), new Ends()];
  const listening = listen(parts, { bell, ends }, within);
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
      ended: (id) => ends.of(id),
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

/** Most containers whose ends are known: an engine may tell of any number. */
const MOST_ENDS = 1000;

/** How containers ended, by what events say: one that was started again runs at most looks. */
class Ends {
  /** When each was started, in nanoseconds, and how it ended then. */
  readonly #known = new Map<string, { readonly at?: bigint; readonly end?: string }>();

  note({ action, containerId: id, attributes, time }: ContainerEvent): void {
    if (!this.#known.has(id) && this.#known.size >= MOST_ENDS) return;
    const { at, end } = this.#known.get(id) ?? {};
    if (action === "start") {
      this.#known.set(id, { at: time, ...(end === undefined ? {} : { end }) });
    }
    const [code] = /^\d{1,3}$/.exec(attributes["exitCode"] ?? "") ?? [];
    if (action !== "die" || code === undefined) return;
    const after = at === undefined || time < at ? "" : ` after ${secondsText(time - at)}`;
    this.#known.set(id, { end: `exited with ${code}${after}` });
  }

  of(id: string): string | undefined {
    return this.#known.get(id)?.end;
  }
}

/** Nanoseconds in seconds: `0.4 s`, `75 s`. */
function secondsText(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds) / 1e9;
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

async function listen(
  { engine, key }: LookParts,
  { bell, ends }: { readonly bell: Bell; readonly ends: Ends },
  signal: AbortSignal,
): Promise<void> {
  const options = { labels: { [COMPOSE_LABELS.project]: key.name }, actions: ACTIONS };
  try {
    for await (const event of engine.containerEvents(options, signal)) {
      ends.note(event);
      bell.ring();
    }
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
