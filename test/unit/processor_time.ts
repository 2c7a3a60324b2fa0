import { readFileSync } from "node:fs";
import { cpuUsage } from "node:process";

/**
 * Milliseconds for which this thread was on a processor so far: other tests of the process, which run
 * beside it, do not count. Where the kernel does not tell of threads it is the time of the process.
 */
export function processorMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    const { user, system } = cpuUsage();
    return (user + system) / 1000;
  }
}
