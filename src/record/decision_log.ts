import { fittingText } from "./fitting.ts";
import { forgetGoneStacks } from "./forget_releases.ts";
import { type DecisionOutcome, fitting, type StackKey, type TargetDecision } from "../model/mod.ts";
import { isRoutine, redactTexts } from "../system/mod.ts";
import { keyIn, type Row } from "./ledger_database.ts";
import { RedactedTable } from "./ledger_table.ts";
import { jsonIn } from "./json_in.ts";

/** Decisions kept for each stack. */
export const DECISIONS_PER_STACK = 100;
/** Characters to record of a decision's changes, and of its services. */
const MOST_CHARACTERS = 32 * 1024;
/** How a decision ended whose process did not come to its end. */
const CUT_OFF: DecisionOutcome = {
  status: "failed",
  message: "interrupted: its process ended before it was done; it was taken up again",
};
/** SQL for triggers of decisions that ask no source. */
const NO_LOOKS = "'job', 'recovery', 'reconciliation', 'rollback', 'project'";
/** Entries between two removals of forgotten stacks. */
const LOOK_EVERY = 100;

/** SQL for the id of the newest entry of a stack. */
const NEWEST_OF_STACK = "SELECT max(id) FROM decisions WHERE context = ? AND name = ?";

/** A recorded decision; equal ones in a row share an entry. */
export interface RecordedDecision extends TargetDecision {
  /** Id of the entry; later entries have greater ids. */
  readonly id: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** Number of triggers in a row that led to this decision. */
  readonly times: number;
}

/** The parts of a decision for lists of stacks. */
export type DecisionSummary = Omit<RecordedDecision, "changes" | "services">;

/** Records why something was done or not, at every trigger. */
export class DecisionLog extends RedactedTable {
  /** Adds a decision, or counts it in the stack's last entry if it is equal. Returns the id for {@link end}. */
  add(key: StackKey, decision: TargetDecision, at: Date): number {
    const { content, details } = this.#written(key, decision);
    const [last] = this.database.rowsOf("decisions", key, "ORDER BY id DESC LIMIT 1");
    let id = Number(last?.["id"] ?? 0);
    this.database.casually(() => {
      if (last?.["content"] === content && last["details"] === details) {
        const sql = `UPDATE decisions SET last_at = ?, times = times + 1 WHERE id = ?`;
        return this.database.run(sql, at, id);
      }
      const first = { first_at: at, last_at: at, times: 1 };
      this.database.add("decisions", key, { ...first, content, details });
      id = this.#newest();
      this.database.keepNewest("decisions", key, DECISIONS_PER_STACK);
      if (id % LOOK_EVERY === 0) forgetGoneStacks(this.database, at.getTime());
    });
    return id;
  }

  /**
   * Records the outcome of a decision, which is the last word on its stack: what another process decided while it
   * was carried out was decided by what it has changed. Equal decisions get new entries from then on.
   */
  end(key: StackKey, id: number, outcome: DecisionOutcome): void {
    const redact = (text: string) => this.redact(text, key);
    const { message, ...rest } = redactTexts({ ...outcome }, redact);
    const text = JSON.stringify({ ...rest, message: fittingText(message) });
    this.database.casually(() =>
      this.database.run(
        `UPDATE decisions SET content = json_set(content, '$.outcome', json(?)),
           id = iif(id = (${NEWEST_OF_STACK}), id, (SELECT max(id) + 1 FROM decisions)) WHERE id = ?`,
        ...[text, key, id],
      )
    );
  }

  /** Ends the decisions whose process has ended before they were carried out; belongs in a transaction. */
  cutOff(key: StackKey): void {
    this.database.run(
      `UPDATE decisions SET content = json_set(content, '$.outcome', json(?))
       WHERE context = ? AND name = ? AND json_extract(content, '$.outcome') IS NULL
         AND json_extract(content, '$.kind') NOT IN ('skip', 'error')`,
      JSON.stringify(CUT_OFF),
      key,
    );
  }

  /** The decisions of a stack, newest first; for the next page, those with ids below `before`. */
  of(key: StackKey, limit: number, before = Number.MAX_SAFE_INTEGER): RecordedDecision[] {
    const page = "AND id < ? ORDER BY id DESC LIMIT ?";
    return this.database.rowsOf("decisions", key, page, before, limit).map((row) => ({
      ...toSummary(row),
      ...jsonIn(row, "details"),
    }));
  }

  /** What had a stack's source asked last, `poll` for one that the service makes by itself; `undefined` for none. */
  lastAsked(key: StackKey): string | undefined {
    const [last] = this.database.all(
      `SELECT content ->> '$.trigger' AS trigger, content ->> '$.origin' AS origin FROM decisions
       WHERE context = ? AND name = ? AND trigger NOT IN (${NO_LOOKS}) ORDER BY id DESC LIMIT 1`,
      key,
    );
    return last && (last["origin"] === "manual" ? "a person" : String(last["trigger"]));
  }

  /** The newest decision of every stack, without its long parts. */
  latest(): { readonly key: StackKey; readonly decision: DecisionSummary }[] {
    const rows = this.database.all(
      `SELECT d.id, d.context, d.name, d.first_at, d.last_at, d.times, d.content FROM decisions d
       JOIN (SELECT max(id) AS id FROM decisions GROUP BY context, name) n ON n.id = d.id`,
    );
    return rows.map((row) => ({ key: keyIn(row), decision: toSummary(row) }));
  }

  /** A decision in stored form: redacted, and cut to what a person reads. */
  #written(key: StackKey, { changes, services, outcome, ...decision }: TargetDecision) {
    const redact = (text: string) => this.redact(text, key, isRoutine(decision.message));
    const fit = <T>(value: T) => redactTexts(value, (text) => fittingText(redact(text)));
    const told = {
      changes: fitting(changes, MOST_CHARACTERS, fit),
      services: fitting(services, MOST_CHARACTERS, fit),
    };
    const { message, ...facts } = decision;
    const more = [
      moreOf(changes.length - told.changes.length, "inputs that changed"),
      moreOf(services.length - told.services.length, "services"),
    ].join("");
    return {
      content: JSON.stringify({ ...fit({ ...facts, outcome }), message: fit(message) + more }),
      details: JSON.stringify(told),
    };
  }

  #newest(): number {
    return Number(this.database.all(`SELECT max(id) AS id FROM decisions`)[0]?.["id"]);
  }
}

function moreOf(count: number, what: string): string {
  return count === 0 ? "" : ` (and ${count} more ${what})`;
}

function toSummary(row: Row): DecisionSummary {
  return {
    ...jsonIn(row, "content"),
    id: Number(row["id"]),
    firstAt: new Date(Number(row["first_at"])),
    lastAt: new Date(Number(row["last_at"])),
    times: Number(row["times"]),
  };
}
