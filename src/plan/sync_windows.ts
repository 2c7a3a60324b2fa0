import type { SyncWindow } from "../config/mod.ts";
import type { Origin } from "../model/mod.ts";
import { readSchedule, type Schedule } from "./schedule.ts";

/** A deployment, as windows see it. */
export interface SyncSubject {
  /** Names of the repositories it is deployed from, such as `github.com/acme/shop`: each has to be let. */
  readonly repositories: readonly string[];
  readonly deployment: string;
  readonly context: string;
  readonly origin: Origin;
}

/** A decision on whether a deployment may be made now. */
export interface SyncDecision {
  readonly allowed: boolean;
  /** True when it is allowed only because a person asks for it. */
  readonly manualOverride: boolean;
  /** Names of the windows that block it, or would but for the override; denying ones first. */
  readonly windows: readonly string[];
  /** The earliest time at which it may be made, where that is known. */
  readonly nextOpen?: Date;
}

/** A window at an instant. */
export interface WindowState {
  readonly window: SyncWindow;
  readonly active: boolean;
  /** Start and end of the time it is active for. */
  readonly since?: Date;
  readonly until?: Date;
  /** The next start, also while it is active. */
  readonly nextStart?: Date;
}

/** The windows of the settings, ready to be asked. */
export interface SyncWindows {
  readonly none: boolean;
  decide(subject: SyncSubject, now: Date): SyncDecision;
  /** Every window, in the order in which they were written. */
  states(now: Date): WindowState[];
}

/** Steps of the search for the next opening, and how far it looks. */
const MOST_STEPS = 512;
const FARTHEST_MS = 366 * 24 * 60 * 60 * 1000;

const ALLOWED: SyncDecision = { allowed: true, manualOverride: false, windows: [] };

/** Makes windows ready to be asked. Throws `bad_request` for a schedule that is none. */
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
  /** The latest start whose window still covers an instant. */
  readonly startOf: (at: Date) => Date | undefined;
}

function timed(window: SyncWindow): Timed {
  const schedule = readSchedule(window.schedule, window.timeZone);
  const length = window.durationSeconds * 1000;
  let [asked, answer] = [Number.NaN, undefined as Date | undefined];
  return {
    window,
    schedule,
    // The same instant is asked about several times while one decision is made.
    startOf: (at) => {
      if (asked !== at.getTime()) answer = schedule.last(at, new Date(at.getTime() - length));
      asked = at.getTime();
      return answer;
    },
  };
}

/** The windows that are about a deployment, for each repository it is deployed from. */
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
 * The active windows that deny, and those that allow one of the repositories where none of them is active:
 * who names a repository to deploy from must not lift a freeze of the own one with a window of that.
 */
function blockingAt(matching: Matching, now: Date): Timed[] {
  const isActive = ({ startOf }: Timed) => startOf(now) !== undefined;
  const of = (kind: SyncWindow["kind"]) =>
    matching.map((each) => each.filter(({ window }) => window.kind === kind));
  const denies = of("deny").flat().filter(isActive);
  const closed = of("allow").filter((each) => !each.some(isActive)).flat();
  return [...new Set([...denies, ...closed])];
}

/** Goes from change to change until nothing blocks. */
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

/** Up to when it stays blocked: the end of all that denies now, else the start of what allows. */
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

/** Whether a window is about a deployment from a repository. */
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
 * Whether a whole text, in any case, is what a glob says: `*` is any run of characters, `/` included,
 * `?` is one, everything else is itself.
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
