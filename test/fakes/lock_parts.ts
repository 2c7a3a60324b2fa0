import type { LockParts } from "../../src/deploy/mod.ts";
import { type Clock, createWatchedLock } from "../../src/system/mod.ts";

/** What actions on projects and stacks wait with, while nobody else changes them. */
export function lockParts(clock: Clock): LockParts {
  return {
    clock,
    stackLock: createWatchedLock(),
    othersDone: () => Promise.resolve(),
    ledger: { mark: () => "", isStill: () => true },
    change: (_key, work) => work(new AbortController().signal),
    told: (_key, _action, work, signal) => work(signal),
  };
}
