/** The service is killed while it changes a stack of a real swarm; the next one finishes what it began. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { inStackSite, killAndFinish, type StackCut } from "../e2e/crash_stacks.ts";
import { DENO_PROGRAM, executables } from "../e2e/service_process.ts";
import type { EngineCall } from "../fakes/engine_calls.ts";
import { findSwarm } from "../fakes/real_swarm.ts";

const swarm = await findSwarm();
/** The executable, where there is one: it is what people run. */
const PROGRAM = executables()[0] ?? DENO_PROGRAM;

type Cuts = readonly Omit<StackCut, "revision">[];

const removed = ({ method, path }: EngineCall) =>
  method === "DELETE" && path.startsWith("/services/");
const updated = ({ method, path }: EngineCall) =>
  method === "POST" && /^\/services\/[^/]+\/update/.test(path);

/** Of each stack its deployments that are killed. A rollback is the second update of a service. */
const STACKS: readonly Cuts[] = process.env["STACKS"] === "sample" ? [[{ cut: updated }]] : [
  [{ cut: removed }, { cut: updated, withShop: true }],
  [{ cut: updated, fails: true }],
  [{ cut: nth(2, updated), fails: true }],
];

describe(
  `${PROGRAM.title} killed while it changes a stack, on the real swarm`,
  { skip: swarm.unavailable ?? false },
  () => {
    it("has the new release in the end, or the one before it where that fails", async () => {
      // Most of their time they wait for tasks. Each is ended before a failure is told.
      const ends = await Promise.allSettled(STACKS.map(kill));
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    });
  },
);

/** Kills one deployment after the other, and has a last look where nothing is left to do. */
async function kill(cuts: Cuts): Promise<void> {
  await inStackSite(PROGRAM, "real swarm", async (site) => {
    for (const [index, each] of cuts.entries()) {
      const killed = await killAndFinish(site, { ...each, revision: `rev-${index + 1}` });
      assert.ok(killed, `deployment ${index + 1} made no such change`);
    }
    await site.assertQuiet((await site.containers()).map(({ id }) => id), "after all of them");
  });
}

/** The `n`-th call of a kind. */
function nth(n: number, isOne: (call: EngineCall) => boolean): (call: EngineCall) => boolean {
  let seen = 0;
  return (call) => isOne(call) && ++seen === n;
}
