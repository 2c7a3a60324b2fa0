import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { createSite, idOf, MOST_MUTATIONS, type Site } from "./crash_site.ts";
import { DENO_PROGRAM } from "./service_process.ts";

/** `CRASH=update` leaves it out: a sample has one failing call in a stack, and kills of containers. */
const skip = process.env["CRASH"] === "update";

/** Whether a release fails. */
type Sweep = "good" | "failing";

describe(
  `${DENO_PROGRAM.title} killed while it changes a stack, on the fake engine`,
  { skip },
  () => {
    it("after any change has the new release, or after one that fails the one before it", async () => {
      // Most of their time they wait for what they watch.
      await Promise.all([
        inSite((site) => killAfterEach(site, "good", 4)),
        inSite((site) => killAfterEach(site, "failing", 3)),
      ]);
    });
  },
);

/** A site with a release of `web`, `worker` and `shop`; in the end its `worker` was never replaced. */
async function inSite(sweep: (site: Site) => Promise<void>): Promise<void> {
  const site = await createSite(DENO_PROGRAM, "swarm");
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
 * Kills the service after the first change of a deployment, after the second of the next, and so on until
 * one ends before it is killed. Every other good one removes the service that the one before it added.
 */
async function killAfterEach(site: Site, sweep: Sweep, least: number): Promise<void> {
  for (let k = 1; k <= MOST_MUTATIONS; k++) {
    const [rev, fails] = [`rev-${k}`, sweep === "failing"];
    const withShop = fails || k % 2 === 0;
    await site.commitStack(rev, { fails, withShop: withShop && !fails });
    const killed = await site.killAfter(k);
    const log = await site.settle();
    const where = `killed after change ${k} (${site.lastChange}):\n${log}`;
    const now = await site.containers();
    const good = fails ? "first" : rev;
    assert.deepEqual(
      now.map((each) => [each.name, each.state, each.labels["rev"]]),
      [
        ...(withShop ? [[`${site.stack}_shop.1`, "running", good]] : []),
        [`${site.stack}_web.1`, "running", good],
        [`${site.stack}_worker.1`, "running", undefined],
      ],
      where,
    );
    site.assertLedger(where, { failed: fails });
    if (killed) continue;
    await site.assertQuiet(now.map((each) => each.id), where);
    assert.ok(k > least, `a deployment makes ${k - 1} changes`);
    return;
  }
  throw new Error(`a deployment makes more than ${MOST_MUTATIONS} changes`);
}
