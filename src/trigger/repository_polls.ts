import type { PollEntry } from "../config/mod.ts";
import type { PollRound } from "../model/mod.ts";
import { nextFiring } from "../plan/mod.ts";
import { abortable, keepLatest } from "../system/mod.ts";
import { LONGEST_SPREAD, type PollParts } from "./poll_parts.ts";
import { sleepUntil } from "./sleep_until.ts";
import type { LookAtRepository } from "./repository_changes.ts";

/** Milliseconds between looks at a watched repository. */
const LOOK_EVERY_MS = 2000;
/** Most references named by deployments that are remembered for the next round. */
const MOST_REMEMBERED = 50;

/** The entries of one repository. */
export type Entries = readonly [PollEntry, ...PollEntry[]];

/** Entries with the same interval. */
interface Rhythm {
  readonly seconds: number;
  readonly entries: readonly PollEntry[];
  /** Whether its runs are under way: until one has ended, it starts none by itself. */
  isBusy: boolean;
  /** Receives the ends of its runs; set while other rhythms may start them. */
  take: ((ends: readonly Promise<void>[]) => void) | undefined;
}

/**
 * The polls of one repository. Runs of one entry never overlap, but one that gave way counts as ended. Runs that start
 * together are of one round, for which the remote is asked once.
 *
 * An interval polls at once, or after a first delay, and then the interval after the first of its
 * runs has ended; an entry whose run still goes on is left out that time. A longer interval starts
 * with a shorter one, up to half of the shorter one early or all of it late, unless the shorter one
 * still has runs. A watched repository on this machine, which comes alone, is also polled when it
 * changes; with interval 0 only at the start and then. A schedule polls at its firings; those
 * during a run are missed. With `runOnce` an entry is polled at once and never again, whatever else
 * is set. An entry without any of these is not polled.
 */
export class RepositoryPolls {
  readonly #entries: Entries;
  readonly #parts: PollParts;
  readonly #signal: AbortSignal;
  readonly #scheduled: ReadonlyMap<string, readonly PollEntry[]>;
  readonly #once: readonly PollEntry[];
  readonly #rhythms: readonly Rhythm[];
  /** Entries with a run under way. */
  readonly #busy = new Set<PollEntry>();
  /** References that deployments named, the latest last. */
  readonly #named = new Map<string, true>();

  /** Polls `entries`, which are of one repository, until `signal` aborts. */
  constructor(entries: Entries, parts: PollParts, signal: AbortSignal) {
    this.#entries = entries;
    this.#parts = parts;
    this.#signal = signal;
    const repeated = entries.filter((each) => !each.runOnce);
    this.#once = entries.filter((each) => each.runOnce);
    const scheduled = repeated.filter((each) => each.schedule !== undefined);
    this.#scheduled = Map.groupBy(scheduled, ({ schedule = "" }) => schedule);
    const timed = repeated.filter((each) => each.schedule === undefined);
    const bySeconds = Map.groupBy(timed, (each) => each.intervalSeconds);
    this.#rhythms = [...bySeconds].map(([seconds, entries]) => (
      { seconds, entries, isBusy: false, take: undefined }
    ));
  }

  /** Polls until no entry is due any more. Rejects when aborted, and with what `submit` throws. */
  async run(firstDelaySeconds: number): Promise<void> {
    const [{ watch, request }] = this.#entries;
    const look = watch ? this.#parts.look?.(request) : undefined;
    const [rhythm] = this.#rhythms;
    if (look !== undefined && rhythm !== undefined) {
      await this.#sleep(firstDelaySeconds);
      return await this.#runWatched(rhythm, look);
    }
    const idle = this.#rhythms.find(({ seconds }) => seconds === 0);
    for (const each of idle?.entries ?? []) {
      this.#parts.log.info("a poll entry has interval 0 and no schedule: it is not polled", {
        target: each.request.target,
      });
    }
    await Promise.all([this.#runScheduled(), this.#runIntervals(firstDelaySeconds)]);
  }

  async #runIntervals(firstDelaySeconds: number): Promise<void> {
    const rhythms = this.#rhythms.filter(({ seconds }) => seconds > 0);
    if (rhythms.length + this.#once.length === 0) return;
    await this.#sleep(firstDelaySeconds);
    await this.#waitForHost();
    const started = rhythms.map((each) => this.#started(each));
    const once = this.#start(this.#once);
    const loops = rhythms.map(async (rhythm, index) => {
      for (let ends = await started[index] ?? [];; ends = await this.#nextStart(rhythm)) {
        await abortable(Promise.race(ends), this.#signal);
        rhythm.isBusy = false;
      }
    });
    await Promise.all([...loops, ...once.map((each) => abortable(each, this.#signal))]);
  }

  /** The ends of a rhythm's next runs, once this or another rhythm has started them. */
  #started(rhythm: Rhythm): Promise<readonly Promise<void>[]> {
    return new Promise((resolve) => void (rhythm.take = resolve));
  }

  /** The ends of a rhythm's runs that start its interval from now, or with another rhythm. */
  async #nextStart(rhythm: Rhythm): Promise<readonly Promise<void>[]> {
    const others = this.#rhythms.map(({ seconds }) => seconds).filter((each) => each > 0);
    const early = Math.min(...others) < rhythm.seconds ? Math.min(...others) / 2 : 0;
    this.#tellPlanned(rhythm);
    await this.#sleep(rhythm.seconds - early);
    const started = this.#started(rhythm);
    const { take } = rhythm;
    const startItself = async () => {
      await this.#sleep(early);
      const comesSoon = (each: Rhythm) =>
        each.seconds > 0 && each.seconds < rhythm.seconds && !each.isBusy;
      if (rhythm.take !== take || this.#rhythms.some(comesSoon)) return await started;
      await this.#waitForHost();
      if (rhythm.take === take) this.#start([]);
      return await started;
    };
    return await Promise.race([started, startItself()]);
  }

  #tellPlanned({ seconds, entries }: Rhythm): void {
    const at = new Date(this.#parts.clock.now().getTime() + seconds * 1000);
    for (const entry of entries) this.#parts.planned?.(entry, at);
  }

  async #runWatched(rhythm: Rhythm, look: LookAtRepository): Promise<void> {
    for (;;) {
      await this.#waitForHost();
      // Before each run: a change during the run then causes the next run.
      const seen = await look();
      await abortable(Promise.race(this.#start(rhythm.entries)), this.#signal);
      await this.#sleepUntilChanged(rhythm, look, seen);
    }
  }

  /** Sleeps for the interval, without end if that is 0, or until the repository changes. */
  async #sleepUntilChanged(
    rhythm: Rhythm,
    look: LookAtRepository,
    seen: string | undefined,
  ): Promise<void> {
    const { seconds } = rhythm;
    if (seconds > 0) this.#tellPlanned(rhythm);
    const whole = seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
    for (let rest = whole; rest > 0; rest -= LOOK_EVERY_MS) {
      await this.#parts.clock.sleep(Math.min(rest, LOOK_EVERY_MS), this.#signal);
      if (await look() === seen) continue;
      this.#parts.log.debug("a watched repository changed: it is polled", {
        target: this.#entries[0].request.target,
      });
      return;
    }
  }

  async #runScheduled(): Promise<void> {
    const { clock, log, timeZone } = this.#parts;
    const over = new Set<string>();
    for (;;) {
      const now = clock.now();
      const firings = [...this.#scheduled].flatMap(([schedule, entries]) => {
        const at = over.has(schedule) ? undefined : nextFiring(schedule, now, timeZone);
        if (at !== undefined) return [{ at: at.getTime(), entries }];
        if (!over.has(schedule)) {
          log.warning(`the schedule ${schedule} never fires again: its entry is not polled`);
        }
        over.add(schedule);
        return [];
      });
      if (firings.length === 0) return;
      const next = new Date(Math.min(...firings.map(({ at }) => at)));
      log.debug("next poll", { at: next.toISOString(), target: this.#entries[0].request.target });
      if (await sleepUntil(clock, next.getTime(), this.#signal) > 0) continue;
      await this.#waitForHost();
      const reached = clock.now().getTime();
      this.#start(firings.filter(({ at }) => at <= reached).flatMap(({ entries }) => entries));
    }
  }

  /**
   * Starts runs of `entries` and of rhythms that can start along, except for entries with a run
   * under way. Returns the ends of the runs of `entries`. An abort ends no run, that is up to the
   * intake.
   */
  #start(entries: readonly PollEntry[]): Promise<void>[] {
    this.#signal.throwIfAborted();
    const along = this.#rhythms.flatMap((rhythm) => {
      const { take } = rhythm;
      if (take === undefined) return [];
      rhythm.take = undefined;
      rhythm.isBusy = true;
      return [{ entries: rhythm.entries, take }];
    });
    const all = [...entries, ...along.flatMap((each) => each.entries)];
    const idle = new Set(all.filter((each) => !this.#busy.has(each)));
    const round = this.#round([...idle].map(({ request }) => request.reference));
    const submit = (entry: PollEntry) => this.#submit(entry, round);
    const submitAll = (some: readonly PollEntry[]) =>
      some.filter((each) => idle.has(each)).map(submit);
    const ends = submitAll(entries);
    for (const each of along) each.take(submitAll(each.entries));
    return ends;
  }

  /** Starts the run of an entry. Returns its end, or the time at which it counts as ended. */
  #submit(entry: PollEntry, round: PollRound): Promise<void> {
    const asked = { kind: "sync", trigger: "poll", origin: "automatic" } as const;
    const { finished, gaveWay } = this.#parts.submit({ ...asked, sources: [entry.request], round });
    this.#busy.add(entry);
    const end = entry.runOnce ? finished : gaveWay;
    return end.then(() => void this.#busy.delete(entry));
  }

  #round(references: readonly string[]): PollRound {
    return {
      references: [...new Set([...references, ...this.#named.keys()])],
      note: (reference) => void keepLatest(this.#named, MOST_REMEMBERED, reference, true),
    };
  }

  /** Waits as long as the host asked, and a random time, so that polls do not all start at once. */
  async #waitForHost(): Promise<void> {
    const { heldUntil, log, clock, random } = this.#parts;
    const [{ request }] = this.#entries;
    for (let held = heldUntil?.(request); held !== undefined; held = heldUntil?.(request)) {
      log.info("a poll waits, because the host asked to be left alone", {
        until: held.toISOString(),
        target: request.target,
      });
      const left = held.getTime() - clock.now().getTime();
      await this.#sleep((Math.max(0, left) + random() * LONGEST_SPREAD * 1000) / 1000);
    }
  }

  /** Sleeps by elapsed time, so that setting the clock back does not stop polling. */
  async #sleep(seconds: number): Promise<void> {
    if (seconds > 0) await this.#parts.clock.sleep(seconds * 1000, this.#signal);
  }
}
