import { availableParallelism, totalmem } from "node:os";
import process from "node:process";

/** Facts about what this process may use of its machine. */
export interface MachineFacts {
  readonly processors: number;
  /** Its container's limit where it has one. */
  readonly memoryBytes: number;
}

/** Asks the runtime, which knows limits of containers. */
export function readMachineFacts(): MachineFacts {
  const limit = process.constrainedMemory?.() ?? 0;
  return {
    processors: availableParallelism(),
    memoryBytes: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
  };
}
