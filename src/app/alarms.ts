import { submitWebhook } from "../api/mod.ts";
import type { Intake } from "../intake.ts";
import type { Run, Work } from "../model/mod.ts";
import type { Ledger } from "../record/mod.ts";
import { OpeningAlarm, RetryAlarm } from "../trigger/mod.ts";
import type { System } from "./system.ts";

/** Alarms for retries of failed releases, and for deployments that sync windows deferred. */
interface Alarms {
  /** Notes the end of a run. */
  note(run: Run, work: Work): void;
  /** Requests deferred deployments, from now on whenever their windows open. */
  start(): void;
}

/** Makes the alarms; they work until `signal` aborts. Calls `intake` when they ring. */
export function createAlarms(
  ledger: Ledger,
  { clock, log }: System,
  intake: () => Intake,
  signal: AbortSignal,
): Alarms {
  const retry = new RetryAlarm({
    submit: (source) => void submitWebhook(source, { intake: intake() }),
    // A release that succeeded meanwhile, or that a person holds, needs no retry.
    isOpen: (key) =>
      ledger.failures.get(key) !== undefined && ledger.pins.get(key) === undefined &&
      ledger.stops.get(key) === undefined && ledger.holds.get(key) === undefined,
    clock,
    log,
  }, signal);
  const submit = (work: Work) => void intake().submit(work);
  const opening = new OpeningAlarm({ deferred: ledger.deferred, submit, clock, log }, signal);
  return {
    note(run, work) {
      retry.note(run, work);
      opening.note();
    },
    start: () => opening.start(),
  };
}
