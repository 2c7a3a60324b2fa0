import type { ContainerEvent } from "../docker/mod.ts";
import {
  formatStackKey,
  type LookBecause,
  messageOf,
  type ReconciliationEvent,
  type ReconciliationOptions,
  type StackKey,
  stackKey,
} from "../model/mod.ts";
import { atEnd, type Clock, keepLatest, type Log } from "../system/mod.ts";
import { newsOf } from "./container_news.ts";
import type { SharedEvents } from "./shared_events.ts";

interface ReconcilerParts {
  readonly context: string;
  /** The engine's events, until the signal of {@link Reconciler.run} aborts. */
  readonly events: Pick<SharedEvents, "follow">;
  /** Name of the stack that a swarm service belongs to, by the service's name. */
  readonly stackOf: (service: string) => string | undefined;
  /** How a stack reacts; `undefined` for one that is left alone. */
  readonly optionsOf: (key: StackKey) => ReconciliationOptions | undefined;
  /** Looks at all stacks, and returns those that need a repair. */
  readonly strayed: (signal: AbortSignal) => Promise<readonly StackKey[]>;
  /** Repairs a stack; `failed` is tried again later. Calls `why` when it holds the stack's lock. */
  readonly reconcile: (
    key: StackKey,
    why: LookBecause,
    signal: AbortSignal,
  ) => Promise<"settled" | "failed">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds without events before a stack is looked at, and how often they may start over. */
const QUIET_MS = 250;
const MOST_QUIETS = 8;
/** Milliseconds between two looks at all stacks. */
const RESYNC_MS = 600_000;
/** Milliseconds before a failed repair is retried: the first, doubling, and the longest. */
const RETRY_MS = { first: 10_000, longest: 600_000 } as const;

type Marks = Map<string, Set<ReconciliationEvent>>;

/** A stack whose containers had events. */
interface Stirred {
  /** Events since the last look; `all` asks for a look at everything. */
  heard: Marks;
  all: boolean;
  /** Whether more events came during the pause before a look. */
  stirs: boolean;
}

/**
 * Repairs stacks whose containers change by other hands. Events of a stack are collected until no
 * more come, then the stack is looked at once. Actions follow from what is seen then, so lost,
 * repeated and own events do no harm. All stacks are looked at at the start, after a gap in the
 * events, and every ten minutes.
 */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #stirred = new Map<string, Stirred>();
  /** Events that told running containers to end, by stack: their later `die` is no crash. */
  readonly #ending = new Map<string, Marks>();
  readonly #working = new Set<Promise<void>>();
  #resyncing = false;
  /** Whether events may have been missed since the current look at all stacks began. */
  #missed = false;

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  /** Works until the signal aborts; returns after its repairs have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const onEvent = (event: ContainerEvent) => this.#hear(event, signal);
    const onGap = () => this.#track(this.#resync(signal));
    await Promise.all([this.#parts.events.follow({ onEvent, onGap }), this.#resyncAgain(signal)]);
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  #hear(event: ContainerEvent, signal: AbortSignal): void {
    const news = newsOf(event, this.#parts.stackOf);
    if (news === undefined) return;
    const key = stackKey(this.#parts.context, news.stack);
    const options = this.#parts.optionsOf(key);
    if (options === undefined) return;
    const name = formatStackKey(key);
    // For a container that is slow to end, the event that told it to end came before.
    const marks = this.#stirred.get(name)?.heard ?? this.#ending.get(name);
    const before = marks?.get(news.containerId) ?? [];
    const isMeant = [...news.events, ...before].some((each) => options.events.includes(each)) ||
      news.drifts && options.drift !== "ignore" || news.isVerdict === true;
    if (isMeant) {
      this.#stir(key, (stirred) => add(stirred.heard, news.containerId, news.events), signal);
    } else {
      const ending = this.#stirred.get(name)?.heard ??
        this.#ending.getOrInsertComputed(name, () => new Map());
      if (options.events.includes("die")) add(ending, news.containerId, news.events);
    }
  }

  /** Has a stack looked at soon. */
  #stir(key: StackKey, note: (stirred: Stirred) => void, signal: AbortSignal): void {
    const name = formatStackKey(key);
    const known = this.#stirred.get(name);
    if (known !== undefined) {
      note(known);
      known.stirs = true;
      return;
    }
    const heard = this.#ending.get(name) ?? new Map();
    this.#ending.delete(name);
    const stirred: Stirred = { heard, all: false, stirs: true };
    this.#stirred.set(name, stirred);
    note(stirred);
    this.#track(this.#lookAfter(key, stirred, signal));
  }

  /** Looks at a stack until it is settled and no more events came. */
  async #lookAfter(key: StackKey, stirred: Stirred, signal: AbortSignal): Promise<void> {
    const { clock, log, reconcile } = this.#parts;
    const name = formatStackKey(key);
    let retry: number = RETRY_MS.first;
    while (stirred.stirs) {
      for (let quiets = 0; stirred.stirs && quiets < MOST_QUIETS; quiets++) {
        stirred.stirs = false;
        await clock.sleep(QUIET_MS, signal);
      }
      stirred.stirs = false;
      const heard: Marks = new Map();
      let all = false;
      const why = () => {
        // Events that came during the wait for the stack's lock need no look of their own.
        for (const [id, events] of stirred.heard) add(heard, id, [...events]);
        all ||= stirred.all;
        Object.assign(stirred, { heard: new Map(), all: false, stirs: false });
        return { heard: all ? undefined : heard, retryMs: retry };
      };
      const end = await reconcile(key, why, signal).catch((error) => {
        signal.throwIfAborted();
        log.warning(`${key.name} could not be looked after: ${messageOf(error)}`);
        return "failed" as const;
      });
      this.#keepEnding(stirred, heard);
      if (end === "settled") retry = RETRY_MS.first;
      else {
        await clock.sleep(retry, signal);
        retry = Math.min(2 * retry, RETRY_MS.longest);
        Object.assign(stirred, { all: true, stirs: true });
      }
    }
    this.#stirred.delete(name);
    if (stirred.heard.size > 0) this.#ending.set(name, stirred.heard);
  }

  /** Remembers the containers that were told to end, and had not ended when looked at. */
  #keepEnding(stirred: Stirred, heard: Marks): void {
    for (const [id, events] of heard) {
      const isTold = events.has("stop") || events.has("kill");
      const isEnding = isTold && !events.has("die") && !events.has("destroy");
      if (!isEnding) continue;
      stirred.stirs ||= stirred.heard.has(id);
      // Only these events: others, such as `unhealthy`, were dealt with by the look.
      add(stirred.heard, id, [...events].filter((each) => each === "stop" || each === "kill"));
    }
  }

  async #resyncAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(RESYNC_MS, signal).catch(() => {});
      if (!signal.aborted) await this.#resync(signal);
    }
  }

  async #resync(signal: AbortSignal): Promise<void> {
    this.#missed = true;
    if (this.#resyncing) return;
    this.#resyncing = true;
    using _ = atEnd(() => this.#resyncing = false);
    while (this.#missed && !signal.aborted) await this.#lookAtAll(signal);
  }

  async #lookAtAll(signal: AbortSignal): Promise<void> {
    this.#missed = false;
    try {
      for (const key of await this.#parts.strayed(signal)) {
        this.#stir(key, (stirred) => void (stirred.all = true), signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      // Events come back only with the engine, and that starts another look at everything.
      this.#parts.log.debug(`the engine's containers could not be looked at: ${messageOf(error)}`);
    }
  }

  #track(work: Promise<void>): void {
    const ended = work.catch(() => {}).finally(() => this.#working.delete(ended));
    this.#working.add(ended);
  }
}

/** Containers of a stack to remember, those with the latest events: more than a stack may have. */
const MOST_MARKED = 2_000;

function add(marks: Marks, id: string, events: readonly ReconciliationEvent[]): void {
  const known = marks.get(id) ?? new Set();
  for (const each of events) known.add(each);
  keepLatest(marks, MOST_MARKED, id, known);
}
