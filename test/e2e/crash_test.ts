import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { isSample } from "../fakes/sample.ts";
import { engines } from "../flow/world.ts";
import { createSite, idOf, MOST_MUTATIONS, type Site } from "./crash_site.ts";
import { DENO_PROGRAM, SWEPT_PROGRAM } from "./service_process.ts";

/*
 * Shapes of releases, and where each is met: by the oracle of the walk (test/flow/walk_model.ts), by one
 * failing call (its scenario in test/flow/call_failures_test.ts) and by kills (the test here; those that
 * fail and are put back: crash_rollbacks_test.ts). Who adds a shape adds a row.
 *
 * | Shape                               | Walk  | One failing call              | Kills                       |
 * | ----------------------------------- | ----- | ----------------------------- | --------------------------- |
 * | waits for one that has started      | yes   | a build                       | hand-over                   |
 * | is replaced with it (`restart`)     | yes   | a build                       | hand-over                   |
 * | waits for one that is healthy       | yes   | a build                       | every shape                 |
 * | waits for a job that has ended      | yes   | a rename with a port          | every shape                 |
 * | rename with a volume                | yes   | a rename with a port          | rename, hand-over, put back |
 * | rename with a port                  | yes   | a rename with a port          | rename, put back            |
 * | rename with a fixed address         | yes   | a file in a submodule         | rename, hand-over, put back |
 * | rename with a container's name      | no    | no                            | rename, put back            |
 * | port to who owns the shared network | steps | a port that goes to a service | hand-over                   |
 * | network of another service          | yes   | a port that goes to a service | every shape, hand-over      |
 * | volume that nobody named            | no    | a change of one service       | update, rename, put back    |
 * | writable link                       | yes   | a file behind a link          | every shape                 |
 * | submodule                           | yes   | a file in a submodule         | every shape                 |
 * | build                               | yes   | a build                       | every shape                 |
 * | network that is made anew           | yes   | a file behind a link          | every shape, hand-over      |
 * | start-first                         | yes   | a start-first update          | start-first                 |
 * | replicas, profiles                  | yes   | no                            | no                          |
 */

/** `CRASH=update` kills one program in one kind of deployment only, `SWEEP=full` on both engines. */
const UPDATE_ONLY = process.env["CRASH"] === "update";
const PROGRAMS = UPDATE_ONLY ? [SWEPT_PROGRAM] : [...new Set([SWEPT_PROGRAM, DENO_PROGRAM])];
const ENGINES = await engines();
const KINDS = process.env["SWEEP"] === "full" ? ENGINES : ENGINES.slice(-1);

for (const program of PROGRAMS) {
  for (const kind of KINDS) {
    // The other program needs no second look at every place where an engine may be left.
    if (kind === "fake" && program !== SWEPT_PROGRAM) continue;
    describe(`${program.title} killed on the ${kind} engine`, () => {
      it("after any change of an update comes to the new release by itself", async () => {
        const site = await createSite(program, kind);
        try {
          await site.commit("first");
          await site.settle();
          const worker = idOf(await site.containers(), "worker");
          const volumes = await site.volumes("web");
          assert.match(volumes.join(), /^[0-9a-f]{64}$/);
          const total = await killAfterEach(site, async (k) => {
            await site.commit(`rev-${k}`);
          });
          assert.ok(total >= 3, `an update makes ${total} changes`);
          assert.equal(idOf(await site.containers(), "worker"), worker, "worker was never changed");
          assert.deepEqual(await site.volumes("web"), volumes, "its data is still there");
        } finally {
          await site.close();
        }
      });

      // The same code on another runtime: one of the two kinds of deployment shows that it holds.
      if (program !== SWEPT_PROGRAM || UPDATE_ONLY) return;
      it("after any change of a first deployment comes to the release by itself", async () => {
        const site = await createSite(program, kind);
        try {
          const total = await killAfterEach(site, async (k) => {
            await site.forget();
            await site.commit(`rev-${k}`);
          });
          assert.ok(total >= 5, `a first deployment makes ${total} changes`);
        } finally {
          await site.close();
        }
      });

      it("after changes of a release of every shape comes to the new one by itself", async () => {
        const site = await createSite(program, kind);
        try {
          await site.commitShapes("rev-0", false);
          await site.settle();
          const commit = (k: number) => site.commitShapes(`rev-${k}`, k % 2 === 1);
          const total = await killAfterEach(site, commit, {
            // Each of them costs as much as all others together; in turn, they are enough.
            every: process.env["SWEEP"] === "full" ? 1 : 3,
            expected: (k) => [
              ["db", "running", `rev-${k}`],
              ["job", "exited", `rev-${k}`],
              ["vpn", "running", `rev-${k}`],
              ["web", "running", `rev-${k}`],
              ["worker", "running", undefined],
            ],
          });
          assert.ok(total >= 9, `an update of every shape makes ${total} changes`);
        } finally {
          await site.close();
        }
      });

      it("at any change of a start-first update has the old or the new container serving", async () => {
        const site = await createSite(program, kind);
        try {
          await site.commit("first", { startFirst: true });
          await site.settle();
          const commit = (k: number) => site.commit(`rev-${k}`, { startFirst: true });
          const serves = async (where: string) =>
            assert.notDeepEqual(await site.serving("web"), [], where);
          const total = await killAfterEach(site, commit, { ...WEB_AND_WORKER, serves });
          assert.ok(total >= 10, `a start-first update makes ${total} changes`);
        } finally {
          await site.close();
        }
      });

      it("after any change of a rename comes to the new name by itself", async () => {
        const site = await createSite(program, kind);
        const nameOf = (k: number) => k % 2 === 0 ? "shop" : "site";
        try {
          await site.commit("rev-0", { name: nameOf(0) });
          await site.settle();
          const commit = (k: number) => site.commit(`rev-${k}`, { name: nameOf(k) });
          const total = await killAfterEach(site, commit, {
            isRename: true,
            expected: (k) => [
              [nameOf(k), "running", `rev-${k}`],
              ["worker", "running", undefined],
            ],
          });
          const names = (await site.containers()).map((each) => each.name);
          assert.deepEqual(names, [site.chosenName, `${site.stack}-worker-1`]);
          assert.ok(total >= 3, `a rename makes ${total} changes`);
        } finally {
          await site.close();
        }
      });

      it("after changes of what hands data, an address and a port over has them at the new ones", async () => {
        const site = await createSite(program, kind);
        try {
          await site.commitHandOver("rev-0", false);
          await site.settle();
          const commit = (k: number) => site.commitHandOver(`rev-${k}`, k % 2 === 1);
          const total = await killAfterEach(site, commit, {
            isRename: true,
            // An odd number, so that it goes there and back in turn.
            every: process.env["SWEEP"] === "full" ? 1 : 3,
            expected: (k) => [
              ["app", "running", `rev-${k}`],
              ["cache", "running", `rev-${k}`],
              [k % 2 === 1 ? "shop" : "site", "running", `rev-${k}`],
              ...(k % 2 === 1 ? [["vpn", "running", `rev-${k}`] as const] : []),
              ["worker", "running", undefined],
            ],
          });
          assert.ok(total >= 9, `a hand-over makes ${total} changes`);
        } finally {
          await site.close();
        }
      });
    });
  }
}

/** What a sweep is told beside how to commit. */
interface Sweep {
  /** Whether a service has another one of {@link RENAMED} each time, and never runs beside the other. */
  readonly isRename?: boolean;
  /** Steps between two kills; 1 by default, and in a sample 4: each costs three starts of the service. */
  readonly every?: number;
  /** Looks at what runs right after the kill. */
  readonly serves?: (where: string) => Promise<void>;
  /** Service, state and label `rev` of the containers in the end. */
  readonly expected: (k: number) => readonly (readonly [string, string, string | undefined])[];
}

/** What a service is called in turn. */
const RENAMED = ["shop", "site"];

const WEB_AND_WORKER: Sweep = {
  expected: (k) => [["web", "running", `rev-${k}`], ["worker", "running", undefined]],
};

/**
 * Kills the service after the first change of a deployment, after the second of the next, and so on
 * until a deployment ends before it is killed; returns how many changes a deployment has.
 */
async function killAfterEach(
  site: Site,
  prepare: (k: number) => Promise<void>,
  { isRename = false, every = isSample ? 4 : 1, serves, expected }: Sweep = WEB_AND_WORKER,
): Promise<number> {
  for (let k = 1; k <= MOST_MUTATIONS; k += every) {
    await prepare(k);
    const before = await site.containers();
    const killed = await site.killAfter(k);
    if (isRename) await assertOneRuns(site, `killed after change ${k} (${site.lastChange})`);
    else await assertEitherRelease(site, before, `rev-${k}`);
    await serves?.(`killed after change ${k} (${site.lastChange})`);
    const log = await site.settle();
    const where = `killed after change ${k} (${site.lastChange}):\n${log}`;
    const now = await site.containers();
    assert.deepEqual(
      now.map((each) => [each.service, each.state, each.labels["rev"]]),
      expected(k),
      where,
    );
    const names = [site.chosenName, ...now.map((each) => `${site.stack}-${each.service}-1`)];
    assert.deepEqual(now.filter((each) => !names.includes(each.name)), [], where);
    site.assertLedger(where);
    await site.assertQuiet(now.map((each) => each.id), where);
    if (!killed) return k - 1;
  }
  throw new Error(`a deployment makes more than ${MOST_MUTATIONS} changes`);
}

/** A dead service leaves containers of the old or the new release, and nothing else of anybody. */
async function assertEitherRelease(
  site: Site,
  before: readonly ObservedContainer[],
  next: string,
): Promise<void> {
  const old = before.find((each) => each.service === "web")?.labels["rev"];
  for (const each of await site.containers()) {
    if (each.service !== "web") continue;
    assert.ok([old, next].includes(each.labels["rev"]), `${each.name} is ${each.labels["rev"]}`);
  }
}

/** The old and the new one have one name, or data of one, so that they never run side by side. */
async function assertOneRuns(site: Site, where: string): Promise<void> {
  const running = (await site.containers()).filter((each) =>
    each.state === "running" && RENAMED.includes(each.service)
  );
  assert.ok(running.length <= 1, `${where}: ${running.map((each) => each.name).join(", ")} run`);
}
