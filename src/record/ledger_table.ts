import type { LedgerDatabase } from "./ledger_database.ts";
import type { RedactAbout } from "./redact_about.ts";

/** A part of the ledger, about one kind of thing. */
export abstract class LedgerTable {
  protected readonly database: LedgerDatabase;

  constructor(database: LedgerDatabase) {
    this.database = database;
  }
}

/** A part of the ledger that stores texts; all of them pass the redactor first. */
export abstract class RedactedTable extends LedgerTable {
  protected readonly redact: RedactAbout;

  constructor(database: LedgerDatabase, redact: RedactAbout) {
    super(database);
    this.redact = redact;
  }
}
