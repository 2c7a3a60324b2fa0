/** What every test does that kills the service while it changes a stack, whoever plays the swarm. */
import assert from "node:assert/strict";
import { createSite, type Cut, idOf, type Site, type SiteKind } from "./crash_site.ts";
import type { Program } from "./service_process.ts";

/** One deployment of a stack that is killed. */
export interface StackCut {
  /** Revision of the release. */
  readonly revision: string;
  readonly cut: Cut;
  /** Whether the release has `shop`; one that fails has it not. */
  readonly withShop?: boolean;
  /** Whether the release fails; then the first one is put back. */
  readonly fails?: boolean;
}

/** A site with a release of `web`, `worker` and `shop`; in the end its `worker` was never replaced. */
export async function inStackSite(
  program: Program,
  kind: SiteKind,
  sweep: (site: Site) => Promise<void>,
): Promise<void> {
  const site = await createSite(program, kind);
  try {
    await site.commitStack("first", { withShop: true });
    await site.settle();
    const worker = idOf(await site.containers(), "worker");
    assert.notEqual(worker, undefined);
    await sweep(site);
    assert.equal(idOf(await site.containers(), "worker"), worker);
  } finally {
    await site.close();
  }
}

/**
 * Kills the service after a change of a deployment, starts the next one, and requires that it made of the
 * stack what the release says, or the first one where the release fails. False, with a look that nothing
 * is left to do, when there was no such change.
 */
export async function killAndFinish(
  site: Site,
  { revision, cut, withShop = false, fails = false }: StackCut,
): Promise<boolean> {
  await site.commitStack(revision, { fails, withShop: withShop && !fails });
  const killed = await site.killAfter(cut);
  const log = await site.settle();
  const where = `killed after ${killed ? site.lastChange : "nothing"}:\n${log}`;
  const now = await site.containers();
  const good = fails ? "first" : revision;
  assert.deepEqual(
    now.map((each) => [each.name, each.state, each.labels["rev"]]),
    [
      ...(withShop || fails ? [[`${site.stack}_shop.1`, "running", good]] : []),
      [`${site.stack}_web.1`, "running", good],
      [`${site.stack}_worker.1`, "running", undefined],
    ],
    where,
  );
  site.assertLedger(where, { failed: fails });
  if (!killed) await site.assertQuiet(now.map((each) => each.id), where);
  return killed;
}
