import type { Clock, Commands, Files, Log, Redactor } from "../system/mod.ts";

/** Ports to the outside world. */
export interface System {
  readonly clock: Clock;
  readonly commands: Commands;
  readonly files: Files;
  readonly log: Log;
  readonly redactor: Redactor;
  /** Environment of the process, for the docker program and `PASS_ENV`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Version of this program, for metrics and documents. */
  readonly version: string;
  /** Milliseconds that a list of stacks waits for an engine, 5 s when absent: for fast clocks. */
  readonly engineLimitMs?: number;
  /** Address to listen on; every IPv4 address when absent. */
  readonly hostname?: string;
}
