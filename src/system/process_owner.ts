import { readlinkSync } from "node:fs";
import process from "node:process";
import { procTextNow } from "./files_now.ts";

/** Tells processes apart, also when an id was used again. */
export interface ProcessOwner {
  /** This process: its id and when it started. */
  readonly id: string;
  /** Whether the process with such an id still runs on this host. */
  isAlive(id: string): boolean;
}

/** The real processes of this host, as the one with the id `pid` sees them: by default this one. */
export function systemProcessOwner(pid: number = process.pid): ProcessOwner {
  return { id: describe(pid) ?? `${pid}`, isAlive: (id) => isAlive(id) };
}

function isAlive(id: string): boolean {
  const pid = Number(id.split(":")[0]);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  const now = describe(pid);
  if (now !== undefined) return now === id;
  try {
    process.kill(pid, 0);
    return !id.includes(":");
  } catch {
    return false;
  }
}

/** `pid:start time` where the host has `/proc`; a start time tells a reused id from the first user. */
function describe(pid: number): string | undefined {
  const stat = procTextNow(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, so fields are counted after its end.
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return start === undefined ? undefined : `${pid}:${start}`;
}

/** Number of the namespace that this process's id is from; 0 where the system does not tell. */
export function processNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}
