import type { Run } from "../model/mod.ts";
import { firstToGo, type SharedRun } from "./first_to_go.ts";
import type { Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";
import { jsonIn } from "./json_in.ts";

/** Runs to keep of each trigger: those that did something, and those that had nothing to do. */
const KEPT = { acted: 50, skipped: 10 } as const;

/** The last finished runs, also after a restart. A power cut may lose some: releases record what they did. */
export class RunArchive extends LedgerTable {
  #version: number | undefined;

  /** Keeps finished runs, and forgets runs of their kinds beyond the limit, see {@link firstToGo}. */
  keep(runs: readonly Run[]): void {
    this.database.casually(() => {
      for (const [trigger, own] of Map.groupBy(runs, (run) => run.trigger)) {
        for (const [kind, alike] of Map.groupBy(own, kindOf)) {
          for (const run of alike) this.#keep(run, [trigger, kind]);
          this.#forget([trigger, kind], KEPT[kind]);
        }
      }
    });
  }

  #keep(run: Run, group: readonly string[]): void {
    this.database.run(
      `INSERT OR REPLACE INTO runs (trigger, kind, id, created_at, content) VALUES (?, ?, ?, ?, ?)`,
      ...group,
      run.id,
      run.createdAt.getTime(),
      JSON.stringify(run),
    );
  }

  #forget(group: readonly string[], most: number): void {
    const [first] = this.database.all(
      `SELECT count(*) AS count FROM runs WHERE trigger = ? AND kind = ?`,
      ...group,
    );
    if (Number(first?.["count"]) <= most) return;
    let runs = this.database.all(
      `SELECT id, trigger, content ->> '$.repository' AS repository, content ->> '$.target' AS target,
              content ->> '$.owner' AS owner, content -> '$.targets[0]' AS first
       FROM runs WHERE trigger = ? AND kind = ? ORDER BY rowid`,
      ...group,
    ).map(toShared);
    while (runs.length > most) {
      const gone = firstToGo(runs)?.id ?? "";
      this.database.run(`DELETE FROM runs WHERE id = ?`, gone);
      runs = runs.filter(({ id }) => id !== gone);
    }
  }

  /** The kept runs in the order in which they ended, whatever the clock was set to. */
  all(): Run[] {
    this.#version = this.database.foreignVersion();
    return this.#read(() => true);
  }

  /** Kept runs that are not known, if another process has written since last time; else none. */
  news(isKnown: (id: string) => boolean): Run[] {
    const version = this.database.foreignVersion();
    if (version === this.#version) return [];
    this.#version = version;
    return this.#read((id) => !isKnown(id));
  }

  #read(isWanted: (id: string) => boolean): Run[] {
    return this.database.all(`SELECT id FROM runs ORDER BY rowid`)
      .map((row) => String(row["id"])).filter(isWanted)
      .flatMap((id) => this.database.all(`SELECT content FROM runs WHERE id = ?`, id))
      .map((row) => revived(jsonIn(row, "content")));
  }
}

function kindOf({ status }: Run): keyof typeof KEPT {
  return status === "skipped" ? "skipped" : "acted";
}

/** The facts for {@link firstToGo}, without reading targets of hundreds of stacks. */
function toShared(row: Row): SharedRun & Pick<Run, "id"> {
  return {
    id: String(row["id"]),
    trigger: String(row["trigger"]) as Run["trigger"],
    repository: String(row["repository"]),
    target: String(row["target"]),
    ...(row["owner"] === null ? {} : { owner: String(row["owner"]) }),
    targets: row["first"] === null ? [] : [jsonIn(row, "first")],
  };
}

/** A run as JSON stores it, with dates as texts. */
type Written<T> = {
  readonly [Name in keyof T]: T[Name] extends Date | undefined ? string : T[Name];
};

function revived(written: Written<Run>): Run {
  const { startedAt, finishedAt, ...rest } = written;
  return {
    ...rest,
    targets: rest.targets.map((target) =>
      target.retryAt === undefined ? target : { ...target, retryAt: new Date(target.retryAt) }
    ),
    createdAt: new Date(written.createdAt),
    updatedAt: new Date(written.updatedAt),
    ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt) }),
    ...(finishedAt === undefined ? {} : { finishedAt: new Date(finishedAt) }),
  };
}
