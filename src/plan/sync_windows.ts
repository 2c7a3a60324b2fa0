import type { SyncWindow } from "../config/mod.ts";
import type { Origin } from "../model/mod.ts";
import { readSchedule, type Schedule } from "./schedule.ts";

/** A deployment that windows decide about. */
export interface SyncSubject {
  /** Names of its repositories, such as `github.com/acme/shop`; windows must allow each of them. */
  readonly repositories: readonly string[];
  readonly deployment: string;
  readonly context: string;
  readonly origin: Origin;
}

/** A decision on whether a deployment may be made now. */
export interface SyncDecision {
  readonly allowed: boolean;
  /** True when it is allowed only because a person asked for it. */
  readonly manualOverride: boolean;
  /** Names of windows that block it, or would without the override; denying ones first. */
  readonly windows: readonly string[];
  /** The earliest time at which it is allowed, if known. */
  readonly nextOpen?: Date;
}

/** State of a window at an instant. */
export interface WindowState {
  readonly window: SyncWindow;
  readonly active: boolean;
  /** Start and end of its current activity. */
  readonly since?: Date;
  readonly until?: Date;
  /** The next start, also while it is active. */
  readonly nextStart?: Date;
}

/** Sync windows with parsed schedules. */
export interface SyncWindows {
  readonly none: boolean;
  decide(subject: SyncSubject, now: Date): SyncDecision;
  /** Every window, in the order in which they were written. */
  states(now: Date): WindowState[];
}

/** Most steps, and farthest time, of the search for the next opening. */
const MOST_STEPS = 512;
const FARTHEST_MS = 366 * 24 * 60 * 60 * 1000;

const ALLOWED: SyncDecision = { allowed: true, manualOverride: false, windows: [] };

/** Parses the schedules of windows. Throws `bad_request` for an invalid schedule. */
export function createSyncWindows(windows: readonly SyncWindow[]): SyncWindows {
  const all = windows.map(timed);
  return {
    none: all.length === 0,
    decide: (subject, now) => {
      const about = (repository: string) =>
        all.filter(({ window }) => concerns(window, repository, subject));
      return decide([...new Set(subject.repositories)].map(about), subject, now);
    },
    states: (now) => all.map((each) => stateAt(each, now)),
  };
}

interface Timed {
  readonly window: SyncWindow;
  readonly schedule: Schedule;
  /** The latest start from which the window still covers an instant. */
  readonly startOf: (at: Date) => Date | undefined;
}

function timed(window: SyncWindow): Timed {
  const schedule = readSchedule(window.schedule, window.timeZone);
  const length = window.durationSeconds * 1000;
  let [asked, answer] = [Number.NaN, undefined as Date | undefined];
  return {
    window,
    schedule,
    // Caches one answer: a decision asks about the same instant several times.
    startOf: (at) => {
      if (asked !== at.getTime()) answer = schedule.last(at, new Date(at.getTime() - length));
      asked = at.getTime();
      return answer;
    },
  };
}

/** The windows that concern a deployment, for each of its repositories. */
type Matching = readonly (readonly Timed[])[];

function decide(matching: Matching, { origin }: SyncSubject, now: Date): SyncDecision {
  const blocking = blockingAt(matching, now);
  if (blocking.length === 0) return ALLOWED;
  const windows = blocking.map(({ window }) => window.name);
  if (origin === "manual" && blocking.every(({ window }) => window.manualSync)) {
    return { allowed: true, manualOverride: true, windows };
  }
  const nextOpen = opening(matching, now);
  const known = nextOpen === undefined ? {} : { nextOpen };
  return { allowed: false, manualOverride: false, windows, ...known };
}

/**
 * The active windows that deny, and those that allow a repository while none for that repository is
 * active. Each must be allowed: naming another repository to deploy from must not lift a freeze of
 * the configuration's repository.
 */
function blockingAt(matching: Matching, now: Date): Timed[] {
  const isActive = ({ startOf }: Timed) => startOf(now) !== undefined;
  const of = (kind: SyncWindow["kind"]) =>
    matching.map((each) => each.filter(({ window }) => window.kind === kind));
  const denies = of("deny").flat().filter(isActive);
  const closed = of("allow").filter((each) => !each.some(isActive)).flat();
  return [...new Set([...denies, ...closed])];
}

/** The next opening: steps from change to change until nothing blocks. */
function opening(matching: Matching, now: Date): Date | undefined {
  const last = now.getTime() + FARTHEST_MS;
  let at = now;
  for (let step = 0; step < MOST_STEPS; step++) {
    const next = nextChange(matching.flat(), at);
    if (next === undefined || !(next <= last)) return undefined;
    at = new Date(next);
    if (blockingAt(matching, at).length === 0) return at;
  }
  return undefined;
}

/** The end of the last active deny window, else the next start of an allow window. */
function nextChange(matching: readonly Timed[], at: Date): number | undefined {
  const ends = matching.flatMap((timed) =>
    timed.window.kind === "deny" ? endOf(timed, at)?.getTime() ?? [] : []
  );
  if (ends.length > 0) return Math.max(...ends);
  const starts = matching.flatMap(({ window, schedule }) =>
    window.kind === "allow" ? schedule.next(at)?.getTime() ?? [] : []
  );
  return starts.length === 0 ? undefined : Math.min(...starts);
}

function endOf(timed: Timed, at: Date): Date | undefined {
  const start = timed.startOf(at);
  return start && new Date(start.getTime() + timed.window.durationSeconds * 1000);
}

function stateAt(timed: Timed, now: Date): WindowState {
  const { window, schedule } = timed;
  const since = timed.startOf(now);
  const until = endOf(timed, now);
  const nextStart = schedule.next(now);
  return {
    window,
    active: since !== undefined,
    ...(since === undefined || until === undefined ? {} : { since, until }),
    ...(nextStart === undefined ? {} : { nextStart }),
  };
}

/** Whether a window applies to a deployment from a repository. */
function concerns(
  { repositories, deployments, contexts }: SyncWindow,
  repository: string,
  { deployment, context }: SyncSubject,
): boolean {
  const fits = (globs: readonly string[], value: string) =>
    globs.length === 0 || globs.some((glob) => matchesGlob(glob, value));
  return fits(repositories, repository) && fits(deployments, deployment) && fits(contexts, context);
}

/**
 * Whether a glob matches a whole text, in any case: `*` is any run of characters, including `/`,
 * `?` is one character, everything else is literal.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const pattern = [...glob.toLowerCase()];
  const value = [...text.toLowerCase()];
  let [p, v, star, resume] = [0, 0, -1, 0];
  while (v < value.length) {
    if (pattern[p] === "*") [star, resume, p] = [p, v, p + 1];
    else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === value[v])) {
      p++;
      v++;
    } else if (star >= 0) [p, v, resume] = [star + 1, resume + 1, resume + 1];
    else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
