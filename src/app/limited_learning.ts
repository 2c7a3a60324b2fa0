import { formatStackKey } from "../model/mod.ts";
import { abortable, type Clock, type Learn, within } from "../system/mod.ts";

/** Milliseconds that work on a stack waits for what its texts may have, which are `***` afterwards. */
const MOST_LEARNING_MS = 5 * 60 * 1000;

/**
 * Limits waits for the secrets of a stack: all who wait for one stack wait as long together as one may,
 * since work asks again at each of its steps. The next wait begins anew once the secrets are known.
 * Failures end a wait; aborting a signal ends that wait alone.
 */
export function limitedLearning(learn: Learn, clock: Clock): Learn {
  const waits = new Map<string, Promise<unknown>>();
  return (key, signal) => {
    const wait = waits.getOrInsertComputed(formatStackKey(key), (name) => {
      const { signal: never } = new AbortController();
      const learned = learn(key, never).catch(() => {}).finally(() => waits.delete(name));
      return within(learned, MOST_LEARNING_MS, clock, never);
    });
    return abortable(wait, signal);
  };
}
