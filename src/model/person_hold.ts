/** A stack that a person holds as it is: no update reaches it until it is let go. */
export interface PersonHold {
  /** Sentence for people; may be empty. */
  readonly reason: string;
  readonly heldAt: Date;
  /** Time at which it ends by itself. */
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
