import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { isSample, itAtLength } from "../fakes/sample.ts";
import { engines } from "../flow/world.ts";
import { createSite, idOf, MOST_MUTATIONS, type Site } from "./crash_site.ts";
import { SWEPT_PROGRAM } from "./service_process.ts";

const ENGINES = await engines();
/** `CRASH=update` leaves out what is a kind of the others. */
const UPDATE_ONLY = process.env["CRASH"] === "update";
/** Changes from one kill to the next: each costs three starts of the service. */
const EVERY = isSample ? 4 : 1;
/** The real engine; `SWEEP=full` takes the fake one too. */
const KINDS = process.env["SWEEP"] === "full" ? ENGINES : ENGINES.slice(-1);

for (const kind of KINDS) {
  describe(`${SWEPT_PROGRAM.title} killed while it puts a release back, on the ${kind} engine`, () => {
    it("after any change of a release that fails has the one before it, and remembers both", async () => {
      const site = await createSite(SWEPT_PROGRAM, kind);
      try {
        await site.commit("first");
        await site.settle();
        const worker = idOf(await site.containers(), "worker");
        const total = await killInRollbacks(site);
        assert.ok(total >= 5, `a release and its rollback make ${total} changes`);
        assert.equal(idOf(await site.containers(), "worker"), worker, "worker was never changed");
      } finally {
        await site.close();
      }
    });

    // A sample has it with failing calls (test/flow/call_failures_test.ts).
    itAtLength(
      "after any change of a rollback by command has the release that was asked for, pinned",
      async () => {
        const site = await createSite(SWEPT_PROGRAM, kind);
        try {
          await site.commit("first");
          await site.settle();
          const total = await killRollbackCommands(site);
          assert.ok(total >= 3, `a rollback makes ${total} changes`);
        } finally {
          await site.close();
        }
      },
    );

    if (UPDATE_ONLY) return;
    it("after any change of a rename that fails has the old name's container, and it runs", async () => {
      const site = await createSite(SWEPT_PROGRAM, kind);
      try {
        await site.commit("first", { name: "site" });
        await site.settle();
        const before = await site.containers();
        const total = await killInRollbacks(site, { to: "shop", name: site.chosenName });
        assert.ok(total >= 5, `a rename and its rollback make ${total} changes`);
        const ids = (await site.containers()).map((each) => each.id);
        assert.deepEqual(ids, before.map((each) => each.id));
      } finally {
        await site.close();
      }
    });
  });
}

/**
 * Deploys releases whose service ends with an error, so that each of them is rolled back: killed
 * before or while it is, a start later what ran before runs, and the bad release is not tried again.
 * `to` is the service's name in them, where it is another one, and `name` its container's.
 */
async function killInRollbacks(
  site: Site,
  { to = "", name = `${site.stack}-web-1` } = {},
): Promise<number> {
  for (let k = 1; k <= MOST_MUTATIONS; k += EVERY) {
    await site.commit(`rev-${k}`, { fails: true, name: to });
    const killed = await site.killAfter(k);
    const log = await site.settle();
    const where = `killed after change ${k} (${site.lastChange}):\n${log}`;
    const now = await site.containers();
    assert.deepEqual(
      now.map((each) => [each.name, each.state, each.labels["rev"]]),
      [
        [name, "running", "first"],
        [`${site.stack}-worker-1`, "running", undefined],
      ],
      where,
    );
    site.assertLedger(where, { failed: true });
    await site.assertQuiet(now.map((each) => each.id), where);
    if (!killed) return k - 1;
  }
  throw new Error(`a rollback makes more than ${MOST_MUTATIONS} changes`);
}

/**
 * Kills `stackwright rollback` in the same way, each time from a newer release: a start later the first
 * one runs, and stays although the reference holds the newer.
 */
async function killRollbackCommands(site: Site): Promise<number> {
  for (let k = 1; k <= MOST_MUTATIONS; k += EVERY) {
    await site.commit(`rev-${k}`);
    await site.settle();
    const killed = await site.killCommandAfter(k, ["rollback", site.stack, "1"]);
    const log = await site.settle();
    const where = `killed after change ${k} (${site.lastChange}):\n${log}`;
    const now = await site.containers();
    assert.deepEqual(now.map((each) => [each.state, each.labels["rev"]]), [
      ["running", "first"],
      ["running", undefined],
    ], where);
    site.assertLedger(where);
    await site.assertQuiet(now.map((each) => each.id), where);
    if (!killed) return k - 1;
  }
  throw new Error(`a rollback makes more than ${MOST_MUTATIONS} changes`);
}
