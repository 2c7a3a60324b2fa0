import { isRefusedChange } from "../../docker/mod.ts";
import {
  fewOf,
  isStackwrightError,
  type ReconciliationOptions,
  type TargetEnd,
} from "../../model/mod.ts";
import type { Restart } from "../../plan/mod.ts";
import type { RecordedRelease } from "../../record/ledger.ts";
import { clearingUp } from "../../system/mod.ts";
import { stackLabels, type Teller } from "../../tell/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** Milliseconds for the restart that a hand-over cuts short: the new owner waits. */
const SHORT_MS = 10_000;

interface Restarts {
  readonly teller: Teller;
  readonly restarts: readonly Restart[];
  /** Aborts the signal if what runs is another owner's by now. */
  readonly ask: () => void;
}

/**
 * Restarts of containers in sequence; one that is gone by then counts as missing at the next look. A
 * hand-over ends it: the engine would go on to restart the container that it has begun with after the
 * time that the author gives it to stop, so that one comes back at once.
 */
export async function restartContainers(
  parts: Pick<PipelineParts, "clock" | "host" | "ledger" | "log" | "meter">,
  { recorded: { key, digest, revision }, options }: {
    readonly recorded: RecordedRelease;
    readonly options: ReconciliationOptions;
  },
  { teller, restarts, ask }: Restarts,
  signal: AbortSignal,
): Promise<TargetEnd> {
  const { clock, meter, host: { engine } } = parts;
  const message = fewOf(restarts.map((each) => each.because), 20, "; ");
  teller.begin("restart", message);
  const { restartTimeoutSeconds: timeoutSeconds, restartSignal: signalName } = options;
  const how = { timeoutSeconds, ...(signalName === "" ? {} : { signalName }) };
  const refused: string[] = [];
  for (const { container: { id, name }, counts } of restarts) {
    ask();
    signal.throwIfAborted();
    // Recorded before the restart, so that a restart that ends this process is counted.
    if (counts) {
      const restarted = { key, release: digest, container: name };
      parts.ledger.reconciliations.noteRestart(restarted, clock.now());
    }
    try {
      await engine.restartContainer(id, how, signal);
    } catch (error) {
      if (isStackwrightError(signal.reason, "conflict")) {
        const atOnce = (within: AbortSignal) =>
          engine.restartContainer(id, { timeoutSeconds: 0 }, within);
        await clearingUp(clock, SHORT_MS, atOnce);
        throw error;
      }
      if (isStackwrightError(error, "path_escapes")) {
        refused.push(`container ${name} was not restarted: ${error.message}`);
      } else if (!isRefusedChange(error)) throw error;
      else parts.log.debug(`container ${name} could not be restarted`, { error });
    }
    meter.count("reconciliation_restarts_total", stackLabels(key, revision.source.name));
  }
  if (refused.length > 0) return { status: "failed", message: fewOf(refused, 20, "; ") };
  return { status: "succeeded", message: `restarted: ${message}` };
}
