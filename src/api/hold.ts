import * as z from "zod";
import {
  errors,
  parseDuration,
  type PersonHold,
  type StackKey,
  stackKey,
  wholeSeconds,
} from "../model/mod.ts";
import { requireDeployedHere } from "../record/mod.ts";
import { type Clock, createTimeFormat, type TimeFormat } from "../system/mod.ts";
import { audited } from "./audit.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { stackAction } from "./stack_action.ts";
import { requireKnown, stackInput, type StackParts, timestamp } from "./stack_parts.ts";

/** Most characters of a reason that people give. */
const MOST_REASON = 500;

/** The input for a person's reason. */
export const reasonInput = z.string().trim().max(MOST_REASON)
  .regex(/^[^\p{Cc}]*$/u, "must be one line of plain text").default("")
  .describe("Why, for those who wonder later.");

/** A person's hold in an answer. */
export const holdView = z.strictObject({
  reason: z.string(),
  held_at: timestamp,
  until: timestamp.optional().describe("When it ends by itself."),
});

type HoldView = z.output<typeof holdView>;

/** What else is to be known of a stack that is held or freed. */
export const noteView = z.string().optional().describe("What else is to be known.");

/** The answer to holding. */
const heldView = holdView.extend({ note: noteView });

/** The answer to resuming: whether the stack was held. */
const resumeView = z.strictObject({
  resumed: z.boolean().describe("False when nobody held it."),
  note: noteView,
});

/** The note on a stack of which nothing is deployed, that is held, or that nothing names; none on others. */
export function noteOn({ ledger }: Pick<StackParts, "ledger">, key: StackKey): { note?: string } {
  const hold = ledger.holds.get(key);
  if (hold !== undefined && ledger.isUnderWay(key, "deploy")) {
    return { note: "a deployment that is under way, or was interrupted, is finished first" };
  }
  const [last] = ledger.decisions.of(key, 1);
  // The next look may remove it with its data.
  if (last?.reason === "unnamed") return { note: `what was decided last: ${last.message}` };
  return ledger.current(key) === undefined ? { note: "nothing of it is deployed" } : {};
}

/** Ports for holding stacks. */
export interface HoldParts extends Pick<StackParts, "ledger" | "timeZone"> {
  readonly clock: Clock;
  /** Waits until the secrets of a stack are hidden: what a person says of it is kept. */
  readonly learned: (key: StackKey, signal: AbortSignal) => Promise<void>;
}

/** Shows a hold. */
export function viewHold({ reason, heldAt, until }: PersonHold, time: TimeFormat): HoldView {
  return { reason, held_at: time(heldAt), ...(until === undefined ? {} : { until: time(until) }) };
}

const input = stackInput.extend({
  reason: reasonInput,
  until: z.string().optional().describe(
    "Time (ISO 8601 with offset) or duration from now (`36h`, `2d`); without it, until resumed.",
  ),
});

/**
 * Holds a stack as it is: newer releases are not deployed, missing parts of the deployed one still
 * come back. A call throws `not_found` when nothing is recorded about the stack, and `conflict` where
 * another context of its engine deploys it.
 */
export function holdOperation(
  { ledger, clock, timeZone, learned }: HoldParts,
): Operation<z.output<typeof heldView>> {
  const time = createTimeFormat(timeZone);
  return defineOperation({
    id: "holdDeployment",
    summary: "Hold a stack as it is, until it is resumed or a time has come.",
    tag: "Deployments",
    power: "act",
    input,
    output: heldView,
    errors: ["bad_request", "not_found", "conflict"],
  }, async ({ context, name, reason, until }, call) => {
    const key = stackKey(context, name);
    await learned(key, call.signal);
    const heldAt = clock.now();
    const end = until === undefined ? {} : { until: untilFrom(until, heldAt) };
    const hold = { reason, heldAt, ...end };
    return audited(call, { action: "hold", what: "stack", key, more: { reason } }, () => {
      requireDeployedHere(ledger, key, "held");
      requireKnown({ ledger }, key);
      ledger.holds.set(key, hold);
      return { ...viewHold(ledger.holds.get(key) ?? hold, time), ...noteOn({ ledger }, key) };
    });
  });
}

/** Ends a stack's hold and the pin of a rollback. Throws `not_found` when nothing is recorded about it. */
export function resumeOperation(
  { ledger }: Pick<HoldParts, "ledger">,
): Operation<z.output<typeof resumeView>> {
  return stackAction({
    action: "resume",
    id: "resumeDeployment",
    summary: "Let a stack that was held, or rolled back, follow its source again.",
    input: stackInput,
    output: resumeView,
    errors: ["bad_request", "not_found"],
  }, (key) => {
    const [held, pinned] = [ledger.holds.remove(key), ledger.pins.remove(key)];
    if (!held && !pinned) requireKnown({ ledger }, key);
    return { resumed: held || pinned, ...noteOn({ ledger }, key) };
  });
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The end of a hold. Throws `bad_request` for an invalid text, and for a time in the past. */
function untilFrom(text: string, now: Date): Date {
  const until = instantOf(text, now);
  if (until !== undefined && until > now) return until;
  if (until !== undefined) {
    throw errors.bad_request(
      `until is ${text}, which is not in the future: it is ${wholeSeconds(now)} now. Give a ` +
        "later time, or a duration from now (36h, 2d)",
      { told: "until is not in the future: give a later time, or a duration from now (36h, 2d)" },
    );
  }
  const what = UNITLESS.test(text) ? "a number without a unit" : "neither a time nor a duration";
  const give =
    "give a time with its offset (2026-05-04T18:00:00Z) or a duration from now (36h, 2d)";
  const advice = `${what}: ${give}`;
  throw errors.bad_request(`until is ${text}, which is ${advice}`, { told: `until is ${advice}` });
}

/** A number alone means seconds elsewhere; here people would expect hours, so it is refused. */
const UNITLESS = /^\s*[+-]?\d+\s*$/;

/** Days and weeks, which durations elsewhere do not have, as in Go: people hold stacks for days. */
const DAYS = /(\d+)([dw])/g;

/** Always of 24 hours, whatever the clocks do meanwhile. */
function inHours(_all: string, amount: string, unit: string): string {
  return `${Number(amount) * (unit === "w" ? 7 : 1) * 24}h`;
}

function instantOf(text: string, now: Date): Date | undefined {
  if (UNITLESS.test(text)) return undefined;
  if (INSTANT.test(text)) {
    const instant = new Date(text);
    return Number.isNaN(instant.getTime()) ? undefined : instant;
  }
  try {
    return new Date(now.getTime() + parseDuration(text.replaceAll(DAYS, inHours)) * 1000);
  } catch {
    return undefined;
  }
}
