import { isHolding, type PersonHold, type StackKey } from "../model/mod.ts";
import type { LedgerDatabase, Row } from "./ledger_database.ts";
import type { RedactAbout } from "./redact_about.ts";
import { RedactedTable } from "./ledger_table.ts";

/** Records the stacks that a person holds as they are. */
export class PersonHolds extends RedactedTable {
  readonly #now: () => Date;

  constructor(database: LedgerDatabase, redact: RedactAbout, now: () => Date) {
    super(database, redact);
    this.#now = now;
  }

  /** The hold of a stack, while it lasts. */
  get(key: StackKey): PersonHold | undefined {
    const row = this.database.rowOf("holds", key);
    const hold = row && toHold(row);
    return hold === undefined || !isHolding(hold, this.#now()) ? undefined : hold;
  }

  /** Holds a stack; an earlier hold is replaced. */
  set(key: StackKey, { reason, heldAt, until }: PersonHold): void {
    this.database.put("holds", key, { reason: this.redact(reason, key), held_at: heldAt, until });
  }

  /** Ends the hold of a stack; false when there was none. */
  remove(key: StackKey): boolean {
    const held = this.get(key) !== undefined;
    this.database.removeRows("holds", key);
    return held;
  }
}

function toHold(row: Row): PersonHold {
  const until = row["until"];
  return {
    reason: String(row["reason"]),
    heldAt: new Date(Number(row["held_at"])),
    ...(until === null ? {} : { until: new Date(Number(until)) }),
  };
}
