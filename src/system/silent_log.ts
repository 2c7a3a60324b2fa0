import type { Log } from "./log.ts";

/** A log that writes nothing. */
export const SILENT_LOG: Log = {
  debug() {},
  info() {},
  warning() {},
  error() {},
  critical() {},
  with: () => SILENT_LOG,
};
