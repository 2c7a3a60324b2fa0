import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { cpuUsage } from "node:process";

/**
 * Milliseconds for which this thread was on a processor so far: other tests of the process, which run
 * beside it, do not count. Where the kernel does not tell of threads it is the time of the process.
 * `processorTime` of src/ is cheaper, and tells no less than 10 ms in Deno.
 */
export function processorMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    const { user, system } = cpuUsage();
    return (user + system) / 1000;
  }
}

/** Milliseconds that {@link knownWork} takes on an idle machine, about. */
const KNOWN_WORK_MS = 5;
const KNOWN_LINES = 10_000;

/**
 * Does work of which it is known how long it takes, to tell how slow a machine is; returns its milliseconds.
 * It takes texts apart and keeps the pieces, as what is measured does: programs beside it slow memory
 * down more than arithmetic.
 */
function knownWork(): number {
  const start = processorMs();
  const text = Array.from({ length: KNOWN_LINES }, (_, index) => `name_${index} = a value`).join(
    "\n",
  );
  const found = new Set<string>();
  for (const line of text.split("\n")) {
    const [, name = "", value = ""] = /^(\w+)\s*=\s*(.*)$/.exec(line) ?? [];
    found.add(name).add(value);
  }
  assert.equal(found.size, KNOWN_LINES + 1);
  return processorMs() - start;
}

/** Tries before it counts that work was slow. */
const TRIES = 4;

/**
 * Whether work takes no more than so many milliseconds of the processor, until its first wait where it
 * has any. When it does, other programs may be at work here, too: it is tried again, and gets as much more
 * time as work takes of which it is known how long it takes. Fails as the work does.
 */
export async function takesAtMost(mostMs: number, work: () => unknown): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = tries === 0 ? 0 : knownWork();
    const start = processorMs();
    const done = work();
    const time = processorMs() - start;
    await done;
    const load = tries === 0 ? 1 : Math.max(1, before / KNOWN_WORK_MS, knownWork() / KNOWN_WORK_MS);
    if (time <= mostMs * load) return true;
  }
  return false;
}

/** The longest processor time between two turns of the event loop while work is done. */
export async function longestStretch(work: () => unknown): Promise<number> {
  let [longest, last, isOver] = [0, processorMs(), false];
  const turn = () => {
    longest = Math.max(longest, processorMs() - last);
    last = processorMs();
    if (!isOver) setTimeout(turn, 0);
  };
  setTimeout(turn, 0);
  await work();
  isOver = true;
  turn();
  return longest;
}
