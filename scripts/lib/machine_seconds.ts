import { readFileSync } from "node:fs";
import { TICKS_PER_SECOND } from "./children_seconds.ts";

/** Seconds of all processors of a machine together, by what they were spent on. */
export interface MachineSeconds {
  /** Programs and the kernel, whoever started them: also engines, and containers that nobody asked for. */
  readonly busy: number;
  /** Nothing to do, with a disk that somebody waits for. */
  readonly disk: number;
  /** Taken by the host of a virtual machine while it had something to do. */
  readonly stolen: number;
  /** All of it, also with nothing to do. */
  readonly all: number;
}

/** What the text of `/proc/stat` says of all processors since the machine began; nothing in another text. */
export function machineSecondsIn(text: string): MachineSeconds | undefined {
  const words = /^cpu +(.*)/.exec(text)?.[1]?.split(" ").map(Number) ?? [];
  const [user, nice, system, idle, disk, interrupts, soft, stolen] = words
    .map((ticks) => ticks / TICKS_PER_SECOND);
  if (
    user === undefined || nice === undefined || system === undefined || idle === undefined ||
    disk === undefined || interrupts === undefined || soft === undefined || stolen === undefined
  ) return undefined;
  const busy = user + nice + system + interrupts + soft;
  return { busy, disk, stolen, all: busy + idle + disk + stolen };
}

/**
 * A line about the machine from the first reading to the second: a slow run with idle processors waits, and one
 * whose processors were taken by others says by whom. Nothing where the system does not tell.
 */
export function machineLine(
  before: MachineSeconds | undefined,
  after: MachineSeconds | undefined,
): string | undefined {
  if (before === undefined || after === undefined) return undefined;
  const [busy, disk, stolen, all] = (["busy", "disk", "stolen", "all"] as const)
    .map((key) => (after[key] - before[key]).toFixed(0));
  return `the machine: ${busy} s of ${all} s of its processors busy, whoever had them; ` +
    `${disk} s idle while a disk was waited for, ${stolen} s taken by its host`;
}

/** What this machine says now; nothing where it has no such file. */
export function machineSeconds(): MachineSeconds | undefined {
  try {
    return machineSecondsIn(readFileSync("/proc/stat", "utf8"));
  } catch {
    return undefined;
  }
}
