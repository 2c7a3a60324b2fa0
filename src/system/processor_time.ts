import process from "node:process";

/**
 * Milliseconds of processor time that this thread used: they say how much work something was, also
 * where others keep the processor busy.
 */
export function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
