import type { NotedJob, NotedRun, StackKey } from "../model/mod.ts";
import { jsonIn } from "./json_in.ts";
import { keyIn, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/**
 * Records what runs of jobs stop that have no container of their own, whose label would tell, and what could
 * not be started again after any run.
 */
export class StoppedByJobs extends LedgerTable {
  /** What is noted of the jobs of a context, or of one stack there. */
  all(context: string, stack?: string): NotedJob[] {
    const sql = `SELECT * FROM stopped_by_jobs WHERE context = ? AND name = coalesce(?, name)
      ORDER BY name, service`;
    return this.database.all(sql, context, stack).map(notedIn);
  }

  /** Removes what is noted of a stack's jobs. */
  remove(key: StackKey): void {
    this.database.removeRows("stopped_by_jobs", key);
  }

  /** The record of one job, of which one run goes on at a time; removed once all was started again. */
  of(key: StackKey, service: string) {
    return {
      get: (): NotedJob | undefined => {
        const [row] = this.database.rowsOf("stopped_by_jobs", key, "AND service = ?", service);
        return row && notedIn(row);
      },
      set: (run: NotedRun): void =>
        this.database.put("stopped_by_jobs", key, { service, content: JSON.stringify(run) }),
      remove: (): void => {
        const sql = `DELETE FROM stopped_by_jobs WHERE context = ? AND name = ? AND service = ?`;
        this.database.run(sql, key, service);
      },
    };
  }
}

function notedIn(row: Row): NotedJob {
  const run: NotedRun = jsonIn(row, "content");
  return { ...run, key: keyIn(row), service: String(row["service"]) };
}
