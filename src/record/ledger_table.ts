import type { LedgerDatabase } from "./ledger_database.ts";
import type { RedactAbout } from "./redact_about.ts";

/** A part of the ledger: what it knows of one kind of thing. */
export abstract class LedgerTable {
  protected readonly database: LedgerDatabase;

  constructor(database: LedgerDatabase) {
    this.database = database;
  }
}

/** A part that keeps texts, all of which pass the redactor first. */
export abstract class RedactedTable extends LedgerTable {
  protected readonly redact: RedactAbout;

  constructor(database: LedgerDatabase, redact: RedactAbout) {
    super(database);
    this.redact = redact;
  }
}
