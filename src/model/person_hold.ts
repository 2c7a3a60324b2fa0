import { errors } from "./error.ts";

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

/** The hold as one sentence. */
export function formatPersonHold({ reason, heldAt, until }: PersonHold): string {
  const end = until === undefined ? "stackwright resume" : until.toISOString();
  const why = reason === "" ? "" : `: ${reason}`;
  return `held by a person since ${heldAt.toISOString()} until ${end}${why}`;
}

/** Refuses what is not done to a stack that a person holds; `done` says what, such as `removed`. Throws `conflict`. */
export function requireNotHeld(name: string, hold: PersonHold | undefined, done: string): void {
  if (hold === undefined) return;
  throw errors.conflict(
    `${name} is not ${done}: it is ${
      formatPersonHold(hold)
    }; end that first (stackwright resume ${name})`,
  );
}
