import * as z from "zod";
import {
  errors,
  formatStackArguments,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "../record/mod.ts";
import { contextInput } from "./context.ts";

/** Ports for the operations on one stack. */
export interface StackParts {
  readonly ledger: Ledger;
  /** The masked model of a recorded release, as text for people. */
  readonly shownModel: (recorded: RecordedRelease, signal: AbortSignal) => Promise<string>;
  /** The form of a recorded digest that readers of a stack see. */
  readonly shownDigest: (key: StackKey, digest: string) => string;
  readonly timeZone: string;
}

/** The input that names a stack. */
export const stackInput = z.strictObject({
  name: z.string().min(1).describe("Name of the stack."),
  context: contextInput,
});

/** The input for a page of a stack's numbered items, newest first. */
export function pageInput(limit: number, most: number) {
  return stackInput.extend({
    limit: z.int().min(1).default(limit).describe(`At most ${most} are listed.`),
    before: z.int().min(1).optional().describe("Only those with smaller numbers."),
  });
}

/** A time in an answer. */
export const timestamp = z.string()
  .describe("ISO 8601 with fractional seconds and UTC offset.");

/** The error for a stack about which nothing is recorded. */
export function unknownStack(key: StackKey): StackwrightError {
  return errors.not_found(
    `nothing is recorded about ${key.name} on context ${key.context}: are name and context right?`,
    {
      told: "nothing is recorded about this stack; GET /v1/api/deployments, or the tool " +
        "list_deployments, has those there are",
    },
  );
}

/** The error for a stack without a release, about which decisions may be recorded. */
export function noRelease({ ledger }: Pick<StackParts, "ledger">, key: StackKey): StackwrightError {
  if (ledger.decisions.of(key, 1).length === 0) return unknownStack(key);
  return errors.not_found(
    `${key.name} has no release on context ${key.context}: none was begun; ` +
      `stackwright explain ${formatStackArguments(key)} says why`,
  );
}

/** Throws `not_found` when nothing is recorded about a stack, as its name is probably wrong. */
export function requireKnown({ ledger }: Pick<StackParts, "ledger">, key: StackKey): void {
  if (ledger.current(key) !== undefined || ledger.decisions.of(key, 1).length > 0) return;
  throw unknownStack(key);
}
