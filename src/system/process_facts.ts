import { filled } from "../model/mod.ts";
import { readdirSync } from "node:fs";
import process from "node:process";
import { procTextNow } from "./files_now.ts";

/** Facts about what this process uses now. What the platform does not tell is left out. */
export interface ProcessFacts {
  readonly cpuUserSeconds: number;
  readonly cpuSystemSeconds: number;
  /** Since 1970. */
  readonly startedSeconds: number;
  readonly residentBytes: number;
  readonly virtualBytes?: number;
  /** Private writable memory, as `VmData` of the kernel has it. */
  readonly dataBytes?: number;
  readonly openFiles?: number;
  readonly mostOpenFiles?: number;
  readonly heapTotalBytes?: number;
  readonly heapUsedBytes?: number;
  readonly externalBytes?: number;
  /** Version of Node.js that the runtime behaves like, with its `v`. */
  readonly nodeVersion: string;
}

/**
 * True for a runtime that reserves gigabytes of addresses it never touches, and knows its heap only
 * from the last time it was cleaned up: Bun. What it says of both alarms people for nothing.
 */
const RESERVES = process.versions["bun"] !== undefined;

/**
 * Looks at this process. Everything is read when it is asked for: a process that nobody looks at
 * is not woken to measure itself. Files of /proc are answered from memory and never block.
 */
export function readProcessFacts(): ProcessFacts {
  const { user, system } = process.cpuUsage();
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const status = procTextNow("/proc/self/status");
  const mostOpenFiles = numberIn(procTextNow("/proc/self/limits"), /^Max open files +(\d+)/m);
  const [virtualBytes, dataBytes] = [kilobytesIn(status, "VmSize"), kilobytesIn(status, "VmData")];
  const heap = { heapTotalBytes: heapTotal, heapUsedBytes: heapUsed, externalBytes: external };
  return {
    cpuUserSeconds: user / 1e6,
    cpuSystemSeconds: system / 1e6,
    startedSeconds: Math.round(Date.now() / 1000 - process.uptime()),
    residentBytes: kilobytesIn(status, "VmRSS") ?? rss,
    ...filled(RESERVES ? {} : { virtualBytes, dataBytes, ...heap }),
    ...filled({ openFiles: filesIn("/proc/self/fd"), mostOpenFiles }),
    nodeVersion: process.version,
  };
}

function kilobytesIn(status: string, name: string): number | undefined {
  const found = numberIn(status, new RegExp(`^${name}:\\s+(\\d+) kB$`, "m"));
  return found && found * 1024;
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

function filesIn(path: string): number | undefined {
  try {
    // One of them is the directory that is being read.
    return readdirSync(path).length - 1;
  } catch {
    return undefined;
  }
}
