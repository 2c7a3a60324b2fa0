import type { Clock, Commands, Files, Log, Redactor } from "../system/mod.ts";

/** The outside world the service lives in. */
export interface System {
  readonly clock: Clock;
  readonly commands: Commands;
  readonly files: Files;
  readonly log: Log;
  readonly redactor: Redactor;
  /** The environment of the process: what the docker program needs, and what `PASS_ENV` lets through. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Version of this program, for metrics and documents. */
  readonly version: string;
  /**
   * Milliseconds for which a list of stacks waits for the engine to say what runs; 5 s when absent. For
   * clocks that run fast.
   */
  readonly engineLimitMs?: number;
  /** Address to listen on; every IPv4 address when absent. */
  readonly hostname?: string;
}
