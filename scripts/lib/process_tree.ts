import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** One process: who started it, or took it over, and its command. */
export interface Running {
  readonly id: number;
  readonly parent: number;
  readonly command: string;
  /** Whether it has the variable that was given to the first one, as those have that nobody is above. */
  readonly isMarked: boolean;
}

/**
 * Processes that end with `root`: itself, all below it, and all that are marked, with those below them. A
 * guard of an engine of one's own stays: it takes away what the killed leave (scripts/lib/own_engine.sh).
 */
export function treeOf(root: number, running: readonly Running[]): number[] {
  const may = running.filter(({ command }) => !/own_engine\.sh guard /.test(command));
  const ids = new Set([root, ...may.filter(({ isMarked }) => isMarked).map(({ id }) => id)]);
  // A set that grows while it is walked.
  for (const each of ids) {
    for (const { id, parent } of may) if (parent === each) ids.add(id);
  }
  return [...ids];
}

/**
 * Ends a process with all below it, in whatever group or session they are: programs that tests start have
 * their own; what was left by who started it is known by `mark`, a variable with its value that was given
 * to the first one. All are stopped first, so that none starts another one meanwhile. Where the system has
 * no `/proc`, only the process itself ends.
 */
export function killTree(root: number, mark: string): void {
  const stopped = new Set<number>();
  for (;;) {
    const further = treeOf(root, runningProcesses(mark)).filter((id) => !stopped.has(id));
    if (further.length === 0) break;
    for (const id of further) {
      stopped.add(id);
      signal(id, "SIGSTOP");
    }
  }
  for (const id of stopped) signal(id, "SIGKILL");
}

/** All processes of the machine, where it tells. */
function runningProcesses(mark: string): Running[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name))
      .flatMap((id) => readProcess(id, mark));
  } catch {
    return [];
  }
}

/** The process with an id; none when it has ended meanwhile. */
function readProcess(id: string, mark: string): Running[] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    const command = readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ");
    // The name before may have blanks and brackets.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
    const isMarked = readFileSync(`/proc/${id}/environ`, "utf8").split("\0").includes(mark);
    return [{ id: Number(id), parent: Number(parent), command, isMarked }];
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
