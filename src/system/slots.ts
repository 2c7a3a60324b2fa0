import type { Clock } from "./clock.ts";
import type { Limiter, Slot } from "./limiter.ts";
import type { Meter } from "./meter.ts";

/** Ports for acquiring a slot. */
export interface SlotParts {
  readonly meter: Meter;
  readonly clock: Clock;
  /** Bounds everything that only reads and prepares. */
  readonly preparing: Limiter;
  /** Bounds everything that changes containers. */
  readonly deploying: Limiter;
}

/** Runs something that only reads and prepares, when a slot for that is free. */
export async function preparing<T>(
  parts: SlotParts,
  repository: string,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const waits = { queued: "pre_deployments_queued", active: "pre_deployments_active" } as const;
  return await inSlot(parts, { limiter: parts.preparing, repository, ...waits }, {
    work,
    waited: (time, outcome) =>
      parts.meter.observe("deployment_admission_duration_seconds", {
        repository,
        phase: "slot",
        outcome,
      }, time),
  }, signal);
}

/** Runs something that changes containers, when a slot for that is free; it may lend the slot. */
export async function deploying<T>(
  parts: SlotParts,
  repository: string,
  work: (slot: Slot) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const waits = { queued: "deployments_queued", active: "deployments_active" } as const;
  return await inSlot(parts, { limiter: parts.deploying, repository, ...waits }, {
    work,
    waited: (time, outcome) =>
      parts.meter.observe("deployment_queue_duration_seconds", { repository, outcome }, time),
  }, signal);
}

interface Room {
  readonly limiter: Limiter;
  readonly repository: string;
  readonly queued: "pre_deployments_queued" | "deployments_queued";
  readonly active: "pre_deployments_active" | "deployments_active";
}

interface Occupation<T> {
  readonly work: (slot: Slot) => Promise<T>;
  readonly waited: (time: number, outcome: "admitted" | "gave_up") => void;
}

async function inSlot<T>(
  { meter, clock }: SlotParts,
  { limiter, repository, queued, active }: Room,
  { work, waited }: Occupation<T>,
  signal: AbortSignal,
): Promise<T> {
  const began = clock.now();
  let inside = false;
  meter.move(queued, { repository }, 1);
  const leaveQueue = (outcome: "admitted" | "gave_up") => {
    meter.move(queued, { repository }, -1);
    waited((clock.now().getTime() - began.getTime()) / 1000, outcome);
  };
  try {
    return await limiter.run(async (slot) => {
      inside = true;
      leaveQueue("admitted");
      let held = 0;
      const hold = (now: 0 | 1) => {
        if (held !== now) meter.move(active, { repository }, now - held);
        held = now;
      };
      hold(1);
      try {
        return await work({
          leave() {
            hold(0);
            slot.leave();
          },
          async takeAgain(within) {
            await slot.takeAgain(within);
            hold(1);
          },
        });
      } finally {
        hold(0);
      }
    }, signal);
  } finally {
    if (!inside) leaveQueue("gave_up");
  }
}
