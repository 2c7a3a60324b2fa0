import { submitWebhook } from "../api/mod.ts";
import type { Intake } from "../intake.ts";
import type { Run, Work } from "../model/mod.ts";
import type { Ledger } from "../record/mod.ts";
import { OpeningAlarm, RetryAlarm } from "../trigger/mod.ts";
import type { System } from "./system.ts";

/** Alarms for failed releases, after a pause, and for what a sync window held back. */
interface Alarms {
  /** Takes note of the end of a run. */
  note(run: Run, work: Work): void;
  /** Submits what windows held back, from now on. */
  start(): void;
}

/** Makes the alarms; they work until the signal. `intake` is asked for when they ring. */
export function createAlarms(
  ledger: Ledger,
  { clock, log }: System,
  intake: () => Intake,
  signal: AbortSignal,
): Alarms {
  const retry = new RetryAlarm({
    submit: (source) => void submitWebhook(source, { intake: intake() }),
    // What succeeded meanwhile, or what a person holds, is not waited for any more.
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
