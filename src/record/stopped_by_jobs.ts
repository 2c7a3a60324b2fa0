import type { StackKey } from "../model/mod.ts";
import { jsonIn } from "./json_in.ts";
import { LedgerTable } from "./ledger_table.ts";

/** A run of a job in the job's own container or service, as whoever takes it over needs it. */
export interface NotedRun {
  /** Id of that container or service. */
  readonly id: string;
  /** What the run stops, as its engine names it. */
  readonly stops: readonly unknown[];
  /** Whether the job may have been started. */
  readonly mayRun: boolean;
}

/** Records what runs of jobs stop that have no container of their own, whose label would tell. */
export class StoppedByJobs extends LedgerTable {
  /** The record of one job, of which one run goes on at a time; removed once all was started again. */
  of(key: StackKey, service: string) {
    return {
      get: (): NotedRun | undefined => {
        const [row] = this.database.rowsOf("stopped_by_jobs", key, "AND service = ?", service);
        return row && jsonIn(row, "content");
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
