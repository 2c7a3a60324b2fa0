/** Most of the machine that a program may have; what is not named is not bounded. */
export interface Limits {
  /**
   * Memory in bytes: allocations beyond it fail. Each child process gets the same limit, and a program
   * that exceeds it together with its children is killed.
   */
  readonly mostMemory?: number;
  /** Time on processors in seconds; then it is ended with SIGXCPU, and killed a second later. */
  readonly mostProcessorSeconds?: number;
  /** Bytes of one file that it writes; then it is ended with SIGXFSZ. */
  readonly mostFileBytes?: number;
}

/** Path of the program that bounds the one it then becomes, as `setsid` does. Of util-linux; BusyBox has none. */
export const PRLIMIT = "/usr/bin/prlimit";
/** Bytes of a thread's stack: those of 8 MiB, times the processors of a large machine, are its own memory. */
const STACK_BYTES = 1024 * 1024;

/** Unit in which a shell measures the size of files. */
const BLOCK_BYTES = 512;

/** A resource as `prlimit` names it, and how much of it there may be: to be warned, and to be ended. */
export type KernelLimit = readonly [
  name: "core" | "cpu" | "data" | "fsize" | "stack",
  number,
  number,
];

/** The limits as the kernel is told them; of memory last, since whoever sets them for itself has it then. */
export function kernelLimits(limits: Limits): readonly KernelLimit[] {
  const { mostMemory, mostProcessorSeconds: seconds, mostFileBytes } = limits;
  const limited: KernelLimit[] = [];
  if (seconds !== undefined) limited.push(["cpu", seconds, seconds + 1]);
  if (mostFileBytes !== undefined) limited.push(["fsize", mostFileBytes, mostFileBytes]);
  if (mostMemory !== undefined) {
    limited.push(["stack", STACK_BYTES, STACK_BYTES], ["data", mostMemory, mostMemory]);
  }
  // No limit leaves an image of the program's memory behind.
  return limited.length === 0 ? [] : [["core", 0, 0], ...limited];
}

/**
 * The program and arguments that start `argv` within its limits, where the kernel can be told so. The
 * kernel counts, since what a repository can multiply is open-ended. Without `prlimit` a shell bounds
 * files, with a fixed text; memory is only watched then, and processors are not bounded.
 */
export function limited(
  argv: readonly [string, ...string[]],
  limits: Limits,
  hasPrlimit: boolean,
): readonly [string, ...string[]] {
  const { mostFileBytes } = limits;
  if (hasPrlimit) {
    const options = kernelLimits(limits).map(([name, soft, hard]) => `--${name}=${soft}:${hard}`);
    return options.length === 0 ? argv : [PRLIMIT, ...options, ...argv];
  }
  if (mostFileBytes === undefined) return argv;
  const blocks = Math.ceil(mostFileBytes / BLOCK_BYTES);
  const script = 'ulimit -c 0; ulimit -f "$1" && shift && exec "$@"';
  return ["/bin/sh", "-c", script, "sh", String(blocks), ...argv];
}
