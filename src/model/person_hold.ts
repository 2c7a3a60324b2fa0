import { errors } from "./error.ts";
import { formatStackArguments, type StackKey } from "./stack_key.ts";
import { wholeSeconds } from "./texts.ts";

/** A hold that a person put on a stack: no update reaches the stack until the hold ends. */
export interface PersonHold {
  /** Sentence for people; may be empty. */
  readonly reason: string;
  readonly heldAt: Date;
  /** Time at which the hold ends by itself. */
  readonly until?: Date;
}

/** True when a hold still holds at an instant. */
export function isHolding({ until }: PersonHold, now: Date): boolean {
  return until === undefined || now < until;
}

/** The hold of a stack as one sentence. */
export function formatPersonHold({ reason, heldAt, until }: PersonHold, key: StackKey): string {
  const end = until === undefined ? resuming(key) : wholeSeconds(until);
  const why = reason === "" ? "" : `: ${reason}`;
  return `held by a person since ${wholeSeconds(heldAt)} until ${end}${why}`;
}

/** Refuses what is not done to a stack that a person holds; `done` says what, such as `removed`. Throws `conflict`. */
export function requireNotHeld(key: StackKey, hold: PersonHold | undefined, done: string): void {
  if (hold === undefined) return;
  // A hold without an end names the command by itself.
  const how = hold.until === undefined ? "" : ` (${resuming(key)})`;
  throw errors.conflict(
    `${key.name} is not ${done}: it is ${formatPersonHold(hold, key)}; end that first${how}`,
  );
}

/** Why nothing is done to a stack that a person stopped over the API, as one sentence. */
export function formatPersonStop({ name }: StackKey, since: Date): string {
  return `${name} was stopped over the API at ${wholeSeconds(since)}; it stays so until ` +
    `POST /v1/api/project/${name}/start`;
}

function resuming(key: StackKey): string {
  return `stackwright resume ${formatStackArguments(key)}`;
}
