import type { Clock } from "./clock.ts";
import type { Whose } from "./fair_places.ts";
import { boundByName, createLimiter, type Limiter, type Slot } from "./limiter.ts";
import type { Meter } from "./meter.ts";
import type { Lend, Shares } from "./shares.ts";

/**
 * Milliseconds for which the work of one source waits while others have all slots. How long these are
 * held is up to their authors (builds, health checks, `timeout`): up to a day.
 */
export const LONGEST_WAIT_MS = 15 * 60 * 1000;

/** The slot of who needs none: there is nothing to give back meanwhile. */
export const NO_SLOT: Slot = { leave() {}, takeAgain: () => Promise.resolve() };

/** Slots for the work on one engine. */
export interface EngineSlots {
  /** Bounds everything that only reads and prepares. */
  readonly preparing: Limiter;
  /** Bounds everything that changes containers. */
  readonly deploying: Limiter;
}

/**
 * Makes as many slots of each kind for one engine. Each engine has its own: one that answers slowly or
 * never holds the slots of whoever asks it, and must not keep the work on others waiting.
 */
export function createSlots(
  { deployments, preparations }: Readonly<Record<"deployments" | "preparations", number>>,
  clock: Clock,
): EngineSlots {
  const patience = { clock, milliseconds: LONGEST_WAIT_MS };
  return {
    preparing: boundByName(createLimiter(preparations, patience), preparations, clock),
    deploying: createLimiter(deployments, patience),
  };
}

interface SlotParts extends EngineSlots {
  readonly meter: Meter;
  readonly clock: Clock;
}

/** Names under which work that needs a slot is queued and measured. */
interface SlotHolder {
  readonly repository: string;
  /** The requesting configuration, if it is of another source, under whose name the work is queued. */
  readonly configuration?: { readonly source: { readonly name: string } } | undefined;
}

/**
 * Runs something that only reads and prepares, when a slot for that is free. What waits for somebody
 * else in it goes through what it is given, and has no slot when that takes long.
 */
export async function preparingInSlot<T>(
  parts: SlotParts & { readonly shares: Shares },
  holder: SlotHolder,
  work: (lend: Lend) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { meter, preparing: limiter, shares } = parts;
  const waits = { queued: "pre_deployments_queued", active: "pre_deployments_active" } as const;
  const waited: Room["waited"] = (time, labels) =>
    meter.observe("deployment_admission_duration_seconds", { ...labels, phase: "slot" }, time);
  const inside = (slot: Slot) => work(shares.lender(slot, whoseOf(holder), signal));
  return await inSlot(parts, { limiter, holder, ...waits, waited }, inside, signal);
}

/** Runs something that changes containers, when a slot for that is free; it may lend the slot. */
export async function deploying<T>(
  parts: SlotParts,
  holder: SlotHolder,
  work: (slot: Slot) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { meter, deploying: limiter } = parts;
  const waits = { queued: "deployments_queued", active: "deployments_active" } as const;
  const waited: Room["waited"] = (time, labels) =>
    meter.observe("deployment_queue_duration_seconds", labels, time);
  return await inSlot(parts, { limiter, holder, ...waits, waited }, work, signal);
}

interface Room {
  readonly limiter: Limiter;
  readonly holder: SlotHolder;
  readonly queued: "pre_deployments_queued" | "deployments_queued";
  readonly active: "pre_deployments_active" | "deployments_active";
  readonly waited: (time: number, labels: Record<"repository" | "outcome", string>) => void;
}

/** Name of the source under which work waits. */
export function sourceOf({ configuration, repository }: SlotHolder): string {
  return configuration?.source.name ?? repository;
}

/** In whose name work waits for a slot. */
export function whoseOf(holder: SlotHolder): Whose {
  return { source: sourceOf(holder), repository: holder.repository };
}

async function inSlot<T>(
  { meter, clock }: SlotParts,
  { limiter, holder, queued, active, waited }: Room,
  work: (slot: Slot) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { repository } = holder;
  const began = clock.now();
  let inside = false;
  meter.move(queued, { repository }, 1);
  const leaveQueue = (outcome: "admitted" | "gave_up") => {
    meter.move(queued, { repository }, -1);
    waited((clock.now().getTime() - began.getTime()) / 1000, { repository, outcome });
  };
  try {
    return await limiter.run(
      async (slot) => {
        inside = true;
        leaveQueue("admitted");
        let held = 0;
        let isOver = false;
        const hold = (now: 0 | 1) => {
          if (held !== now && !isOver) meter.move(active, { repository }, now - held);
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
          isOver = true;
        }
      },
      signal,
      whoseOf(holder),
    );
  } finally {
    if (!inside) leaveQueue("gave_up");
  }
}
