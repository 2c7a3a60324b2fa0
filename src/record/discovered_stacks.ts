import type { DiscoveredStack, DiscoveryOwner, StackKey } from "../model/mod.ts";
import { keyIn, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";
import { jsonIn } from "./json_in.ts";

/** SQL condition for rows of one owner, with the parameters {@link valuesOf} the owner. */
const IS_OWNER = "source = ? AND target = ? AND reference = ?";

function valuesOf({ source, target, reference }: DiscoveryOwner): string[] {
  return [source, target, reference];
}

/**
 * Records which stacks were named or discovered, and by which configuration: stacks that nothing
 * names any more are found, and removed if they were discovered. Not kept in labels, since a
 * changed policy must not replace containers.
 */
export class DiscoveredStacks extends LedgerTable {
  get(key: StackKey): DiscoveredStack | undefined {
    const row = this.database.rowOf("discovered", key);
    return row && toStack(row);
  }

  /** Whether a stack was removed but for data, which waits, and is not known to have come back. */
  isLeft(key: StackKey): boolean {
    return this.get(key)?.isLeft === true;
  }

  of(owner: DiscoveryOwner): DiscoveredStack[] {
    const sql = `SELECT * FROM discovered WHERE ${IS_OWNER} ORDER BY context, name`;
    return this.database.all(sql, ...valuesOf(owner)).map(toStack);
  }

  /** Records a stack; writes only changes. */
  set(stack: DiscoveredStack): void {
    const known = this.get(stack.key);
    if (known !== undefined && content(known) === content(stack)) return;
    const { source, target, reference } = stack.owner;
    const row = { source, target, reference, content: content(stack) };
    this.database.put("discovered", stack.key, row);
  }

  /** Forgets a stack that is gone, or that inline deployments name. Fine when it is not known. */
  remove(key: StackKey): void {
    if (this.get(key) === undefined) return;
    this.database.removeRows("discovered", key);
  }

  /** Formatted keys of removals that wait for the same result of another run. */
  pending(owner: DiscoveryOwner): readonly string[] {
    const sql = `SELECT stacks FROM pending_removals WHERE ${IS_OWNER}`;
    const [row] = this.database.all(sql, ...valuesOf(owner));
    return row === undefined ? [] : jsonIn(row, "stacks");
  }

  /** Replaces the removals that wait; an empty list means none. Writes only changes. */
  setPending(owner: DiscoveryOwner, stacks: readonly string[]): void {
    if (JSON.stringify(this.pending(owner)) === JSON.stringify(stacks)) return;
    this.database.transaction(() => {
      const of = valuesOf(owner);
      this.database.run(`DELETE FROM pending_removals WHERE ${IS_OWNER}`, ...of);
      if (stacks.length === 0) return;
      const sql = `INSERT INTO pending_removals VALUES (?, ?, ?, ?)`;
      this.database.run(sql, ...of, JSON.stringify(stacks));
    });
  }
}

function toStack(row: Row): DiscoveredStack {
  const { repository, directory, files, policy, fresh, isLeft } = jsonIn(row, "content");
  return {
    key: keyIn(row),
    owner: {
      source: String(row["source"]),
      target: String(row["target"]),
      reference: String(row["reference"]),
    },
    repository,
    directory,
    ...(files && { files }),
    policy,
    ...(fresh && { fresh }),
    ...(isLeft && { isLeft }),
  };
}

function content(stack: DiscoveredStack): string {
  const { owner, repository, directory, files, policy, fresh, isLeft } = stack;
  const { source, target, reference } = owner;
  const { delete: remove, removeVolumes, removeImages } = policy ?? {};
  return JSON.stringify({
    repository,
    directory,
    ...(files && { files }),
    ...(policy && { policy: { delete: remove, removeVolumes, removeImages } }),
    owner: { source, target, reference },
    ...(fresh && { fresh }),
    ...(isLeft && { isLeft }),
  });
}
