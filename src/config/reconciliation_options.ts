import type { DriftPolicy, ReconciliationEvent, ReconciliationOptions } from "../model/mod.ts";
import { RECONCILIATION_DEFAULTS as D } from "./deployment_defaults.ts";
import type { WrittenDeployment } from "./deployment_schema.ts";
import type { Report } from "./problem_sink.ts";
import { seconds } from "./written_values.ts";

/** `reconciliation`. An empty list of events switches it off. */
export function reconciliationOptions(
  written: WrittenDeployment["reconciliation"],
  report: Report,
): ReconciliationOptions {
  const given = typeof written === "object" ? written : undefined;
  const events = [...new Set((given?.events ?? D.events).map(normalEvent))];
  const time = (key: "restart_timeout" | "restart_window", most?: number) =>
    seconds(given?.[key] ?? D[key], 0, (why) => report(`reconciliation.${key}`, why), most);
  return {
    drift: (given?.drift ?? D.drift).trim().toLowerCase() as DriftPolicy,
    enabled: (given?.enabled ?? D.enabled) && events.length > 0,
    events,
    restartTimeoutSeconds: time("restart_timeout", LONGEST_STOP),
    restartSignal: restartSignal(given?.restart_signal ?? D.restart_signal, report),
    restartLimit: given?.restart_limit ?? D.restart_limit,
    restartWindowSeconds: time("restart_window"),
  };
}

/** An hour: the stack stays locked while a container stops. */
export const LONGEST_STOP = 60 * 60;

function normalEvent(text: string): ReconciliationEvent {
  const word = text.trim().toLowerCase();
  return (word === "remove" || word === "delete" ? "destroy" : word) as ReconciliationEvent;
}

function restartSignal(text: string, report: Report): string {
  const signal = text.trim().toUpperCase();
  if (!/^(?:\d{1,2}|[A-Z][A-Z0-9]*(?:[+-]\d{1,2})?)?$/.test(signal)) {
    report("reconciliation.restart_signal", "expected the name of a signal, such as SIGTERM");
  }
  return signal;
}
