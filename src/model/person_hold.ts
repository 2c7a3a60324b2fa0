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
