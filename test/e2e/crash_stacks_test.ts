import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { MOST_MUTATIONS, type Site } from "./crash_site.ts";
import { inStackSite, killAndFinish } from "./crash_stacks.ts";
import { SWEPT_PROGRAM } from "./service_process.ts";

/** `CRASH=update` leaves it out: a sample has one failing call in a stack, and kills of containers. */
const skip = process.env["CRASH"] === "update";

describe(
  `${SWEPT_PROGRAM.title} killed while it changes a stack, on the fake engine`,
  { skip },
  () => {
    it("after any change has the new release, or after one that fails the one before it", async () => {
      const inSite = (sweep: (site: Site) => Promise<void>) =>
        inStackSite(SWEPT_PROGRAM, "fake swarm", sweep);
      // Most of their time they wait for what they watch.
      await Promise.all([
        inSite((site) => killAfterEach(site, false, 4)),
        inSite((site) => killAfterEach(site, true, 3)),
      ]);
    });
  },
);

/**
 * Kills the service after the first change of a deployment, after the second of the next, and so on until
 * one ends before it is killed. Every other good one removes the service that the one before it added.
 */
async function killAfterEach(site: Site, fails: boolean, least: number): Promise<void> {
  for (let k = 1; k <= MOST_MUTATIONS; k++) {
    const withShop = k % 2 === 0;
    if (await killAndFinish(site, { revision: `rev-${k}`, cut: k, withShop, fails })) continue;
    assert.ok(k > least, `a deployment makes ${k - 1} changes`);
    return;
  }
  throw new Error(`a deployment makes more than ${MOST_MUTATIONS} changes`);
}
