import assert from "node:assert/strict";
import { join } from "node:path";
import { type Intent, Ledger, loadInstanceKey, processesOf } from "../../src/record/mod.ts";
import { createIds, systemClock, systemFiles } from "../../src/system/mod.ts";
import type { World } from "./world.ts";

/** The key of a world's stack. */
export const KEY = (world: World) => ({ context: "default", name: world.stack });

/** The ledger of a world as a command in another process has it open, one that runs. */
export async function withOther(
  world: World,
  work: (other: Ledger) => Promise<void>,
): Promise<void> {
  const ledger = new Ledger(join(world.dataDir, "state.db"), {
    key: await loadInstanceKey(systemFiles, world.dataDir),
    clock: systemClock,
    ids: createIds(systemClock),
    processes: processesOf(world.dataDir, "4711@elsewhere:1:1"),
    redact: String,
  });
  try {
    await work(ledger);
  } finally {
    ledger.close();
  }
}

/**
 * Begins, as another process, to put release `number` back, with a pin that holds `refused` back, by default
 * what runs, or with none for `false`; nothing is done to containers.
 */
export function beginRollback(
  world: World,
  other: Ledger,
  number: number,
  refused: string | false = other.current(KEY(world))?.revision.id ?? "",
): Intent {
  const release = other.history(KEY(world), 9).find((each) => each.number === number);
  assert.ok(release);
  const pin = { releaseId: release.id, revision: String(refused), pinnedAt: new Date() };
  const mark = other.mark(KEY(world));
  const intent = other.beginDecided(other.open(release), mark, refused === false ? {} : { pin });
  assert.ok(intent);
  return intent;
}
