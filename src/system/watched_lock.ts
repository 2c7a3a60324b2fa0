import { atEnd } from "./at_end.ts";
import type { Clock } from "./clock.ts";
import { createKeyedLock, type Slot, type WatchableLock } from "./limiter.ts";

/** Work under keys that ends as soon as its time is over. */
export interface EndableWork<T> {
  readonly keys: readonly string[];
  /** The error that ends the work; `undefined` while it may go on. */
  readonly isOver: () => Error | undefined;
  /** Does the work until `within` aborts; `ask` aborts it if it is over. */
  readonly work: (within: AbortSignal, ask: () => void) => Promise<T>;
}

/**
 * A line of those who wait for a key and do the same in their turn, as the runs of one configuration do: whoever
 * joins it takes the place of those who began `since` before, but automatic work never that of a person's.
 */
export interface Line {
  readonly of: string;
  readonly since: number;
  readonly isPersons: boolean;
  /** Told that it has taken a place, once or more: what another one was to do is up to it, whoever waits for that. */
  readonly taken?: (() => void) | undefined;
}

/** Reason for which a wait ended whose place in a {@link Line} another one has taken. */
export const OVERTAKEN = Symbol("overtaken in its line");

/**
 * A lock that also tells whether observations under a key may be out of date, and that ends what goes
 * on under a key, whether that holds the lock or not.
 */
export interface WatchedLock extends WatchableLock {
  /**
   * As {@link WatchableLock.run}, for work that lends the key through its slot: {@link run} has it meanwhile, but
   * no other work in turn. What was found under the key before is out of date then, if it {@link wasReleasedSince}.
   * `who` is the {@link holder} all the time. In a `line` the last one waits alone. Throws {@link OVERTAKEN} for
   * the others.
   */
  inTurn<T>(
    key: string,
    work: (slot: Slot) => Promise<T>,
    signal: AbortSignal,
    as: { readonly who?: string; readonly line?: Line | undefined },
  ): Promise<T>;
  /** In whose name a key is held; `undefined` while nobody holds it who said that. */
  holder(key: string): string | undefined;
  /** Does work that {@link ending}, or a look at {@link OverLooks}, may end. Throws what ended it, or its own. */
  endable<T>(what: EndableWork<T>, signal: AbortSignal): Promise<T>;
  /** Does `work`; meanwhile each {@link endable} work under the keys that is over ends. */
  ending<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Whether something goes on that is {@link ending} work under a key. */
  isEnding(key: string): boolean;
  /** This moment, to be compared with later. */
  mark(): number;
  /**
   * Whether `key` was released after `mark` was taken, so that earlier observations may be out of date.
   * A current holder does not count.
   */
  wasReleasedSince(key: string, mark: number): boolean;
}

/**
 * Keys whose last release is remembered; marks are compared within seconds. Engines of other contexts
 * name stacks of jobs, and these are locked.
 */
const MOST_KEYS = 10_000;

/** What tells that {@link EndableWork} may be over, although nobody in this process says so. */
export interface OverLooks {
  readonly clock: Clock;
  /** A value that changes with whatever tells that work is over. */
  readonly version: () => unknown;
}

/** Milliseconds between two looks at whether something has changed. */
const LOOK_MS = 1000;

/** A lock that nobody holds; with `looks`, work that is over ends within a second or so. */
export function createWatchedLock(looks?: OverLooks): WatchedLock {
  const [lock, turns] = [createKeyedLock(), createKeyedLock()];
  const holders = new Map<string, string>();
  const releases = new Map<string, number>();
  const lines: Lines = new Map();
  let count = 0;
  /** The last release that was forgotten: any key may have had it. */
  let forgotten = 0;
  const note = (key: string) => {
    releases.delete(key);
    releases.set(key, ++count);
    const [oldest] = releases.size > MOST_KEYS ? releases : [];
    if (oldest === undefined) return;
    releases.delete(oldest[0]);
    forgotten = oldest[1];
  };
  const run: WatchedLock["run"] = (key, work, signal) => {
    const noted = async (slot: Slot) => {
      try {
        return await work(slot);
      } finally {
        note(key);
      }
    };
    return lock.run(key, noted, signal);
  };
  return {
    isBusy: (key) => turns.isBusy(key) || lock.isBusy(key),
    ...endingWork(looks),
    holder: (key) => holders.get(key),
    run,
    inTurn(key, work, signal, { who, line }) {
      const place = joined(lines, key, signal.aborted ? undefined : line);
      const inside = (slot: Slot) => {
        place.leave();
        if (who !== undefined) holders.set(key, who);
        return work(slot);
      };
      const within = place.within(signal);
      const turn = () => run(key, inside, within).finally(() => holders.delete(key));
      return turns.run(key, turn, within).finally(place.leave);
    },
    mark: () => count,
    wasReleasedSince: (key, mark) => (releases.get(key) ?? forgotten) > mark,
  };
}

/** Those who wait in lines, by the key and the line, and what ends the wait of each. */
type Lines = Map<string, Map<AbortController, Line>>;

/** Joins a line, ending the waits of those whose place that takes, or the own one where it is theirs. */
function joined(lines: Lines, key: string, line: Line | undefined): {
  readonly within: (signal: AbortSignal) => AbortSignal;
  readonly leave: () => void;
} {
  if (line === undefined) return { within: (signal) => signal, leave() {} };
  const own = new AbortController();
  const name = JSON.stringify([key, line.of]);
  const all = lines.getOrInsertComputed(name, () => new Map());
  for (const [end, other] of all) {
    if (isBehind(other, line)) overtake(end, line);
    else if (isBehind(line, other)) overtake(own, other);
  }
  all.set(own, line);
  return {
    within: (signal) => AbortSignal.any([signal, own.signal]),
    leave() {
      all.delete(own);
      if (all.size === 0 && lines.get(name) === all) lines.delete(name);
    },
  };
}

/** Ends the wait of one whose place another has. */
function overtake(end: AbortController, by: Line): void {
  by.taken?.();
  end.abort(OVERTAKEN);
}

function isBehind(one: Line, other: Line): boolean {
  return one.since <= other.since && (other.isPersons || !one.isPersons);
}

/** What goes on under keys, and what ends it. */
function endingWork(
  looks: OverLooks | undefined,
): Pick<WatchedLock, "endable" | "ending" | "isEnding"> {
  const endables = new Map<string, Set<() => void>>();
  const endings = new Map<string, Set<symbol>>();
  let looking: AbortController | undefined;
  return {
    isEnding: (key) => endings.has(key),
    async endable({ keys, isOver, work }, signal) {
      const end = new AbortController();
      const ask = () => {
        const reason = isOver();
        if (reason !== undefined) end.abort(reason);
      };
      const leave = enter(endables, keys, ask);
      if (looks && !looking) void look(endables, looks, (looking = new AbortController()).signal);
      try {
        if (keys.some((key) => endings.has(key))) ask();
        return await work(AbortSignal.any([signal, end.signal]), ask);
      } catch (error) {
        if (!signal.aborted) end.signal.throwIfAborted();
        throw error;
      } finally {
        leave();
        if (endables.size === 0) {
          looking?.abort("ended");
          looking = undefined;
        }
      }
    },
    async ending(keys, work) {
      const leave = enter(endings, keys, Symbol());
      using _ = atEnd(leave);
      for (const key of keys) for (const ask of endables.get(key) ?? []) ask();
      return await work();
    },
  };
}

/** Asks all work whether it is over as often as something has changed, until `signal` aborts. */
async function look(
  endables: ReadonlyMap<string, ReadonlySet<() => void>>,
  { clock, version }: OverLooks,
  signal: AbortSignal,
): Promise<void> {
  for (let seen: unknown; !signal.aborted;) {
    try {
      await clock.sleep(LOOK_MS, signal);
      const now = version();
      if (now !== seen) { for (const asks of endables.values()) for (const ask of asks) ask(); }
      seen = now;
    } catch {
      // What cannot be read now is read at the next look.
    }
  }
}

/** Adds a value under keys; returns what takes it away again. */
function enter<T>(all: Map<string, Set<T>>, keys: readonly string[], value: T): () => void {
  for (const key of keys) all.getOrInsertComputed(key, () => new Set()).add(value);
  return () => {
    for (const key of keys) {
      const own = all.get(key);
      own?.delete(value);
      if (own?.size === 0) all.delete(key);
    }
  };
}
