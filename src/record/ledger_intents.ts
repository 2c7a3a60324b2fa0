import type { AdoptionNotes, StackKey } from "../model/mod.ts";
import type { Intent } from "./intents.ts";
import { LedgerTables } from "./ledger_tables.ts";

/** How what was begun goes on, waits and ends. */
export class LedgerIntents extends LedgerTables {
  /**
   * Records which orphans an open deploy stops for good and what it copies, before it does: whoever resumes
   * it starts them again, and makes half of the copies no more than the others.
   */
  noteAdoption(intent: Intent, notes: AdoptionNotes): void {
    this.database.transaction(() => this.intents.noteAdoption(intent, notes));
  }

  /**
   * Takes up an intent that ended work left open: from now on work of this process is at it, and what had
   * been decided before has come to no end. Returns it as it is by now, which others may have changed; `undefined`
   * where it is closed, waits, or others are at it.
   */
  takeUp({ id, key }: Pick<Intent, "id" | "key">): Intent | undefined {
    const taken = this.database.transaction(() => {
      const intent = this.intents.ended(key).find((each) => each.id === id);
      if (intent === undefined || this.waits(intent)) return undefined;
      this.intents.takeUp(intent);
      this.decisions.cutOff(key);
      return intent;
    });
    // Once it is written: where that fails, no work is at it.
    if (taken !== undefined) this.intents.atWork(taken);
    return taken;
  }

  /** Whether an interrupted deployment waits: what a person stopped is made and started by nobody else. */
  waits({ key, kind, options: { starts = false }, isDone = false }: Intent): boolean {
    return kind === "deploy" && !starts && !isDone && this.stops.get(key) !== undefined;
  }

  /**
   * Records that a person stopped a stack, which what was interrupted neither starts nor removes then; see
   * {@link Stops.set}. May be called twice. Returns false, recording nothing, where what its mark was `since`
   * does not hold any more.
   */
  stop(key: StackKey, idle?: readonly string[], since = this.mark(key)): boolean {
    return this.database.transaction(() => {
      if (!this.isStill(key, since)) return false;
      this.stops.set(key, this.clock.now(), idle);
      for (const each of this.intents.ended(key)) {
        if (each.kind === "deploy") this.intents.noteNoStart(each);
        else this.giveUp(each, "failed", "interrupted; a person stopped the stack");
      }
      return true;
    });
  }

  /**
   * Leaves an intent that work of this process was at, where it is still open, to the next look at the stack: of
   * this process in any case, also on a full disk, and of others where that can be written down.
   */
  leave(intent: Intent): void {
    this.intents.rest(intent);
    if (this.isStillOpen(intent)) {
      this.database.transaction(() => this.intents.leave(intent));
    }
  }

  /** Closes an intent. Its work has ended also where that cannot be written: the next look finishes it. */
  protected ending(intent: Intent, write: () => void): void {
    this.intents.rest(intent);
    this.database.transaction(write);
  }

  /** Closes a deploy whose release is deployed: what that replaced is tidied up. */
  tidied(intent: Intent): void {
    this.ending(intent, () => this.intents.close(intent, this.now()));
  }

  /** Closes an intent that comes to no good end, unless its release is deployed; call it in a transaction. */
  protected giveUp(intent: Intent, status: "failed" | "rolled_back", message: string): void {
    const { key, releaseId, isDone = false } = intent;
    if (isDone) return this.intents.close(intent, this.now());
    if (releaseId !== undefined) {
      this.releases.setStatus(releaseId, status, this.redact(message, key), this.now());
    }
    this.pins.end(key, intent.id, "failed");
    this.finish(intent, status, message);
  }

  /** Closes an intent with its outcome; call it in a transaction. */
  protected finish(intent: Intent, outcome: string, message: string): void {
    this.intents.finish(intent, outcome, this.redact(message, intent.key), this.now());
  }

  /** Milliseconds since 1970. */
  protected now(): number {
    return this.clock.now().getTime();
  }
}
