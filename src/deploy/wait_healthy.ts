import type { Engine } from "../docker/engine.ts";
import {
  type Progress,
  type ReleaseService,
  type StackKey,
  StackwrightError,
} from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { lastLines } from "./last_lines.ts";
import { observe } from "./observe.ts";
import { readiness } from "./readiness.ts";

/** Samples in a row that must be good before a release counts as healthy. */
export const GOOD_SAMPLES = 3;
/** Milliseconds between two samples. */
export const SAMPLE_INTERVAL_MS = 1000;

/** What to wait for, and how long. */
export interface HealthWait {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly key: StackKey;
  readonly services: readonly ReleaseService[];
  /** When to give up. */
  readonly deadline: Date;
  /** Told at every sample what is still missing; nobody by default. */
  readonly progress?: Progress;
}

/**
 * Waits until `services` have been as they should be for {@link GOOD_SAMPLES} samples in a row.
 *
 * Throws `unhealthy` as soon as one of them cannot become good any more, with the last lines it
 * wrote, and `timeout` at the deadline, naming what was still missing.
 */
export async function waitHealthy(wait: HealthWait, signal: AbortSignal): Promise<void> {
  const { engine, clock, key, services, deadline } = wait;
  if (services.length === 0) return;
  for (let good = 0; good < GOOD_SAMPLES;) {
    const now = readiness(services, await observe(engine, key, signal));
    if (now.kind === "failed") {
      const log = await lastLines(engine, now.container.id, signal);
      throw new StackwrightError(
        "unhealthy",
        `service ${now.service}: container ${now.container.name} ${now.why}${log}`,
      );
    }
    good = now.kind === "ready" ? good + 1 : 0;
    const missing = now.kind === "waiting" ? missingText(now.services) : "";
    if (missing !== "" && clock.now() >= deadline) {
      throw new StackwrightError(
        "timeout",
        `not healthy within the deployment's timeout: ${missing}`,
      );
    }
    wait.progress?.(
      missing === "" ? "making sure that it stays healthy" : `waiting for ${missing}`,
    );
    if (good < GOOD_SAMPLES) await clock.sleep(SAMPLE_INTERVAL_MS, signal);
  }
}

function missingText(services: Readonly<Record<string, string>>): string {
  return Object.entries(services).map(([name, why]) => `${name}: ${why}`).join(", ");
}
