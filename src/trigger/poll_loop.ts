import type { PollEntry } from "../config/mod.ts";
import { isStackwrightError, type Run, type SourceRequest, type Sync } from "../model/mod.ts";
import { nextFiring } from "../plan/mod.ts";
import { abortable, type Clock, type Log } from "../system/mod.ts";
import type { LookAtRepository } from "./repository_changes.ts";

/** Hands work in; `finished` never rejects. Throws `shutting_down` when nothing is let in any more. */
export type Submit = (work: Sync) => { readonly finished: Promise<Run> };

/** What poll loops need of the world. */
export interface PollParts {
  readonly submit: Submit;
  readonly clock: Clock;
  readonly log: Log;
  /** IANA zone of schedules that name none. */
  readonly timeZone: string;
  /** How changes of a source on this machine are seen; `undefined` for one that is elsewhere. */
  readonly look?: (request: SourceRequest) => LookAtRepository | undefined;
  /** Until when the host of a source wants to be left alone, if it does. */
  readonly heldUntil?: (request: SourceRequest) => Date | undefined;
  /** A number from 0 up to 1, to spread polls that would start at the same time. */
  readonly random: () => number;
}

/** Most rhythms that all start at once; more are spread. */
const MOST_AT_ONCE = 8;
/** Longest delay of a first poll, in seconds. */
const LONGEST_SPREAD = 30;
/** Longest single sleep: the clock may be set meanwhile. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000;
/** Between looks at a watched repository. */
const LOOK_EVERY_MS = 2000;

/** Entries of one repository that are polled at the same times, so that the remote is asked once. */
type Entries = readonly [PollEntry, ...PollEntry[]];

/**
 * Polls every entry until `signal` aborts or no entry is due any more; never rejects. Entries of one
 * repository with the same interval or schedule are polled together, see {@link runPollLoop}. Call it
 * once.
 */
export async function runPolls(
  entries: readonly PollEntry[],
  parts: PollParts,
  signal: AbortSignal,
): Promise<void> {
  const together = byRhythm(entries, parts);
  const spread = together.length > MOST_AT_ONCE;
  const loops = together.map((each) => {
    const most = spread ? Math.min(each[0].intervalSeconds, LONGEST_SPREAD) : 0;
    return runPollLoop(each, { ...parts, firstDelaySeconds: most * parts.random() }, signal);
  });
  await Promise.all(loops);
}

/** One that is watched has a rhythm of its own: nobody asks a remote for it. */
function byRhythm(entries: readonly PollEntry[], { look }: PollParts): Entries[] {
  const found = new Map<string, [PollEntry, ...PollEntry[]]>();
  for (const [index, entry] of entries.entries()) {
    const { request: { kind, url }, schedule, intervalSeconds, runOnce, watch } = entry;
    const isWatched = watch && look?.(entry.request) !== undefined;
    const key = isWatched ? `${index}` : JSON.stringify([
      kind,
      url,
      schedule ?? "",
      intervalSeconds,
      runOnce,
    ]);
    const others = found.get(key);
    if (others === undefined) found.set(key, [entry]);
    else others.push(entry);
  }
  return [...found.values()];
}

/**
 * Polls entries of one repository that have the same interval or schedule until `signal` aborts;
 * never rejects. Each has runs of its own, which never overlap, and those that start together are of
 * one round. An interval polls at once, or after `firstDelaySeconds`, and then the interval after the
 * end of the first of these runs; an entry whose run goes on by then is left out once. A watched
 * repository on this machine, which comes alone, is polled as soon as it changed, too; without an
 * interval at the start and then only. A schedule polls at its firings only; those that pass while a
 * run is active count as missed. With `runOnce` it polls at once, whatever else is set, and ends after
 * that run, good or bad. An entry without any of them polls nothing.
 */
export async function runPollLoop(
  entries: Entries,
  parts: PollParts & { readonly firstDelaySeconds?: number },
  signal: AbortSignal,
): Promise<void> {
  try {
    await new PollLoop(entries, parts, signal).run(parts.firstDelaySeconds ?? 0);
  } catch (error) {
    if (signal.aborted || isStackwrightError(error, "shutting_down")) return;
    parts.log.error("BUG: a poll loop ended", { error, target: entries[0].request.target });
  }
}

class PollLoop {
  readonly #entries: Entries;
  /** What all entries have in common is read here. */
  readonly #entry: PollEntry;
  readonly #parts: PollParts;
  readonly #signal: AbortSignal;
  /** The entries whose run goes on. */
  readonly #busy = new Set<PollEntry>();

  constructor(entries: Entries, parts: PollParts, signal: AbortSignal) {
    this.#entries = entries;
    this.#entry = entries[0];
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(firstDelaySeconds: number): Promise<void> {
    const { schedule, intervalSeconds, runOnce, watch, request } = this.#entry;
    if (schedule !== undefined && !runOnce) return await this.#runScheduled(schedule);
    const look = watch && !runOnce ? this.#parts.look?.(request) : undefined;
    if (intervalSeconds === 0 && !runOnce && look === undefined) {
      for (const each of this.#entries) {
        this.#parts.log.info("a poll entry has interval 0 and no schedule: it is not polled", {
          target: each.request.target,
        });
      }
      return;
    }
    await this.#sleep(firstDelaySeconds);
    await this.#waitForHost();
    if (runOnce) return void await abortable(Promise.all(this.#poll()), this.#signal);
    while (true) {
      // Taken before each run: a change that comes while it runs is one for the next.
      const seen = await look?.();
      await abortable(Promise.race(this.#poll()), this.#signal);
      if (look === undefined) await this.#sleep(intervalSeconds);
      else await this.#sleepUntilChanged(look, seen);
      await this.#waitForHost();
    }
  }

  /** Sleeps for the interval, for ever where it is 0, or until the repository changed. */
  async #sleepUntilChanged(look: LookAtRepository, seen: string | undefined): Promise<void> {
    const { intervalSeconds, request } = this.#entry;
    const whole = intervalSeconds === 0 ? Number.POSITIVE_INFINITY : intervalSeconds * 1000;
    for (let rest = whole; rest > 0; rest -= LOOK_EVERY_MS) {
      await this.#parts.clock.sleep(Math.min(rest, LOOK_EVERY_MS), this.#signal);
      if (await look() === seen) continue;
      this.#parts.log.debug("a watched repository changed: it is polled", {
        target: request.target,
      });
      return;
    }
  }

  async #runScheduled(schedule: string): Promise<void> {
    const { clock, log, timeZone } = this.#parts;
    while (true) {
      const next = nextFiring(schedule, clock.now(), timeZone);
      if (next === undefined) {
        log.warning(`the schedule ${schedule} never fires again: its entry is not polled`);
        return;
      }
      log.debug("next poll", { at: next.toISOString(), target: this.#entry.request.target });
      await this.#sleepUntil(next);
      await this.#waitForHost();
      this.#poll();
    }
  }

  /**
   * The ends of the runs that start now: of all entries but those whose run goes on. An abort ends no
   * run, that is the intake's to do.
   */
  #poll(): Promise<void>[] {
    this.#signal.throwIfAborted();
    const idle = this.#entries.filter((each) => !this.#busy.has(each));
    const references = [...new Set(idle.map(({ request }) => request.reference))];
    const round = idle.length > 1 ? { round: { references } } : {};
    return idle.map((entry) => {
      const sources = [entry.request];
      const work: Sync = { kind: "sync", trigger: "poll", origin: "automatic", sources, ...round };
      const { finished } = this.#parts.submit(work);
      this.#busy.add(entry);
      return finished.then(() => void this.#busy.delete(entry));
    });
  }

  /** Waits for as long as the host wants, and then some, so that not all who wait start at once. */
  async #waitForHost(): Promise<void> {
    const { heldUntil, log, clock, random } = this.#parts;
    const { request } = this.#entry;
    for (let held = heldUntil?.(request); held !== undefined; held = heldUntil?.(request)) {
      log.info("a poll waits, because the host asked to be left alone", {
        until: held.toISOString(),
        target: request.target,
      });
      const left = held.getTime() - clock.now().getTime();
      await this.#sleep((Math.max(0, left) + random() * LONGEST_SPREAD * 1000) / 1000);
    }
  }

  /** Counts time, not clock readings: setting the clock back does not stop polling. */
  async #sleep(seconds: number): Promise<void> {
    for (let rest = seconds * 1000; rest > 0; rest -= LONGEST_SLEEP_MS) {
      await this.#parts.clock.sleep(Math.min(rest, LONGEST_SLEEP_MS), this.#signal);
    }
  }

  async #sleepUntil(instant: Date): Promise<void> {
    const { clock } = this.#parts;
    const left = () => instant.getTime() - clock.now().getTime();
    for (let rest = left(); rest > 0; rest = left()) {
      await clock.sleep(Math.min(rest, LONGEST_SLEEP_MS), this.#signal);
    }
  }
}
