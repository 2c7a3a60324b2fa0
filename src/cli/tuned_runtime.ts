import process from "node:process";

/**
 * Options of the runtime for a service that mostly waits. Bun takes them from its environment, and only
 * when it starts. As it is, it compiles whatever runs a few hundred times, on threads of its own: a
 * fifth of what a deployment costs, and too seldom run to come back. And it collects garbage every
 * second, also of a service at rest; in milliseconds. Its HTTP client sends 256 requests at once in the
 * whole process, so silent Git servers or the engine of another context would keep all others waiting.
 */
const OPTIONS = {
  BUN_JSC_useFTLJIT: "0",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "10000",
  BUN_JSC_thresholdForJITAfterWarmUp: "2000",
  BUN_JSC_thresholdForJITSoon: "500",
  BUN_GC_TIMER_INTERVAL: "300000",
  BUN_CONFIG_MAX_HTTP_REQUESTS: "4096",
} as const;

/** Parts of the process that are looked at, and the call that replaces it. */
export type TunedProcess = Pick<typeof process, "argv" | "env" | "execPath" | "execve">;

/**
 * Starts the service once more, in the same process, with the options of a runtime for it; what the
 * environment says of them already wins. Does nothing where that is no executable of Bun, or they are
 * set; where it cannot be done, the service runs without them. Nobody else gets to see these variables.
 */
export function tuneRuntime(self: TunedProcess = process): void {
  if (self.argv[2] !== "serve" || !isExecutable(self)) return;
  const names = Object.keys(OPTIONS);
  if (names.every((name) => self.env[name] !== undefined)) {
    for (const name of names) delete self.env[name];
    return;
  }
  const env = Object.fromEntries(
    Object.entries({ ...OPTIONS, ...self.env }).filter((each): each is [string, string] =>
      each[1] !== undefined
    ),
  );
  try {
    self.execve?.(self.execPath, [self.execPath, ...self.argv.slice(2)], env);
  } catch {
    // The service works without the options too, only at a higher cost.
  }
}

/** Whether this process is an executable that Bun compiled. */
export function isExecutable(self: Pick<TunedProcess, "argv"> = process): boolean {
  return self.argv[1]?.startsWith(INSIDE_AN_EXECUTABLE) === true;
}

/** Where Bun says that the program of a compiled executable lies. */
const INSIDE_AN_EXECUTABLE = "/$bunfs/";
