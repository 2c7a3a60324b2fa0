import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** One process: who started it, or took it over, and its command. */
export interface Running {
  readonly id: number;
  readonly parent: number;
  readonly command: string;
}

/**
 * Processes that end with `root`: itself and all below it. A guard of an engine of one's own stays: it takes
 * away what the killed leave (scripts/lib/own_engine.sh).
 */
export function treeOf(root: number, running: readonly Running[]): number[] {
  const below = running.filter(({ parent, command }) =>
    parent === root && !/own_engine\.sh guard /.test(command)
  );
  return [root, ...below.flatMap(({ id }) => treeOf(id, running))];
}

/**
 * Ends a process with all below it, in whatever group or session they are: programs that tests start have
 * their own. All are stopped first, so that none starts another one meanwhile. Where the system has no
 * `/proc`, only the process itself ends.
 */
export function killTree(root: number): void {
  const stopped = new Set<number>();
  for (;;) {
    const further = treeOf(root, runningProcesses()).filter((id) => !stopped.has(id));
    if (further.length === 0) break;
    for (const id of further) {
      stopped.add(id);
      signal(id, "SIGSTOP");
    }
  }
  for (const id of stopped) signal(id, "SIGKILL");
}

/** All processes of the machine, where it tells. */
function runningProcesses(): Running[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap(readProcess);
  } catch {
    return [];
  }
}

/** The process with an id; none when it has ended meanwhile. */
function readProcess(id: string): Running[] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    const command = readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ");
    // The name before may have blanks and brackets.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
    return [{ id: Number(id), parent: Number(parent), command }];
  } catch {
    return [];
  }
}

/** Sends a signal to a process that may have ended. */
function signal(id: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(id, name);
  } catch {
    // Nobody is there any more.
  }
}
