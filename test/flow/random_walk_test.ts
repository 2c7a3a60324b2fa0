import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { createFakeBuilder } from "../fakes/fake_builder.ts";
import {
  type Expected,
  expectedOf,
  firstState,
  JOB,
  simplerWalks,
  step,
  type WalkState,
} from "./walk_model.ts";
import { shrink, simplify } from "./shrink.ts";
import { WalkRepository } from "./walk_repository.ts";
import { createWorld, engines, type World } from "./world.ts";
import { freePort } from "../fakes/free_port.ts";
import { fractionsFrom } from "../fakes/random.ts";

/**
 * `WALK_SEED`, `WALK_STEPS` and `WALK_ENGINE=real` make other walks, and more of them; with
 * `WALK_SHRINKS=no` nothing else is tried.
 */
const SEED = Number(process.env["WALK_SEED"] ?? "20261121");
const STEPS = Number(process.env["WALK_STEPS"] ?? "300");
const ENGINE = process.env["WALK_ENGINE"] === "real" ? "real" : "fake";
/** A walk begins anew in another world after so many steps, so that none outgrows its process. */
const STEPS_OF_ONE = ENGINE === "fake" ? 300 : 60;

const PORT = await freePort();

/** What ran after a step: the ids of each service's containers. */
type Running = ReadonlyMap<string, readonly string[]>;

/** Walks that are asked for on the real engine, where there is none, are not made. */
const isThere = ENGINE === "fake" || (await engines()).includes(ENGINE);

describe(`a random walk on the ${ENGINE} engine`, { skip: !isThere }, () => {
  for (let done = 0, seed = SEED; done < STEPS; done += STEPS_OF_ONE, seed++) {
    const steps = Math.min(STEPS_OF_ONE, STEPS - done);
    it(`ends every one of ${steps} steps from seed ${seed} with what an oracle expects`, async () => {
      const random = fractionsFrom(seed);
      const states = [firstState()];
      for (let count = 0; count < steps; count++) {
        states.push(step(states.at(-1) ?? firstState(), random));
      }
      const failure = await walk(states, judge);
      if (failure === undefined) return;
      const smallest = await smallestFailing(states.slice(0, failure.at + 1), judge);
      assert.fail(
        `seed ${seed}, step ${failure.at}: ${failure.why}\n` +
          `smallest walk that fails:\n${smallest.map((each) => JSON.stringify(each)).join("\n")}`,
      );
    });
  }

  if (process.env["WALK_SHRINKS"] === "no") return;
  it("shrinks to the one state and the one service that fail, under an oracle that is wrong", async () => {
    const web = { ...firstState(), variable: "7" };
    const states = [firstState(), web, withReplicas(web, 2), withReplicas(web, 1)];
    const wrong: Judge = (run, now, before, mutations) =>
      now.running.get("web")?.length === 2 ? "two of web run" : judge(run, now, before, mutations);
    const failure = await walk(states, wrong);
    assert.deepEqual(failure, { at: 2, why: "two of web run" });
    const smallest = await smallestFailing(states.slice(0, failure.at + 1), wrong);
    assert.deepEqual(smallest.map(({ services, variable }) => [services, variable]), [
      [{ web: { ...firstState().services["web"], replicas: 2 } }, "0"],
    ]);
  });
});

function withReplicas(state: WalkState, replicas: number): WalkState {
  const { web } = state.services;
  assert.ok(web);
  return { ...state, services: { ...state.services, web: { ...web, replicas } } };
}

/** The shortest and then the simplest walk with that failure, each tried in a world of its own. */
async function smallestFailing(states: readonly WalkState[], judged: Judge) {
  const fails = async (walked: readonly WalkState[]) => await walk(walked, judged) !== undefined;
  return await simplify(await shrink(states, fails), simplerWalks, fails);
}

interface Failure {
  readonly at: number;
  readonly why: string;
}

/** Deploys the states one after the other in a new world. */
async function walk(states: readonly WalkState[], judged: Judge): Promise<Failure | undefined> {
  const commands = ENGINE === "fake" ? { commands: createFakeBuilder() } : {};
  const world = await createWorld({ engine: ENGINE, ...commands });
  try {
    world.fake?.setBehaviour(JOB, { exit: 0, afterMs: 0 });
    let before: {
      readonly running: Running;
      readonly expected: Readonly<Record<string, Expected>>;
    } = {
      running: new Map(),
      expected: {},
    };
    const repository = new WalkRepository(world, PORT);
    for (const [at, state] of states.entries()) {
      await repository.commit(state, `step ${at}`);
      world.proxy.reset();
      const { run } = await world.poll();
      const expected = expectedOf(state);
      const running = await runningNow(world);
      const why = judged(run, { expected, running }, before, world.proxy.mutations());
      if (why !== undefined) return { at, why };
      before = { running, expected };
    }
    return undefined;
  } finally {
    await world.close();
  }
}

async function runningNow(world: World): Promise<Running> {
  const running = new Map<string, string[]>();
  for (const container of (await world.containers()).filter(isRunning)) {
    running.set(container.service, [...running.get(container.service) ?? [], container.id].sort());
  }
  return running;
}

function isRunning(container: ObservedContainer): boolean {
  return container.state === "running";
}

type Seen = { readonly running: Running; readonly expected: Readonly<Record<string, Expected>> };

type Judge = typeof judge;

/** What is wrong after a step, or nothing. */
function judge(
  run: { readonly status: string; readonly message?: string },
  now: Seen,
  before: Seen,
  mutations: number,
): string | undefined {
  if (run.status !== "succeeded" && run.status !== "skipped") {
    return `run ${run.status}: ${run.message}`;
  }
  const extra = [...now.running.keys()].filter((name) => now.expected[name] === undefined);
  if (extra.length > 0) return `${extra.join(", ")} should not run`;
  for (const [name, { replicas, identity }] of Object.entries(now.expected)) {
    const ids = now.running.get(name) ?? [];
    if (ids.length !== replicas) {
      return `${name} has ${ids.length} containers, expected ${replicas}`;
    }
    const old = before.running.get(name) ?? [];
    const kept = ids.filter((id) => old.includes(id));
    const same = before.expected[name]?.identity === identity && !followsNew(name, now, before);
    if (same && kept.length !== Math.min(old.length, replicas)) {
      return `${name} was replaced without a reason`;
    }
    if (!same && kept.length > 0) return `${name} changed and was not replaced`;
  }
  const unchanged = JSON.stringify(now.expected) === JSON.stringify(before.expected);
  return unchanged && mutations > 0
    ? `nothing changed, and ${mutations} calls changed something`
    : undefined;
}

/** Whether a service follows one, however far, that runs now and did not run before. */
function followsNew(name: string, now: Seen, before: Seen): boolean {
  const followed = now.expected[name]?.follows;
  if (followed === undefined) return false;
  const runs = (seen: Seen) => (seen.running.get(followed) ?? []).length > 0;
  return (runs(now) && !runs(before)) || followsNew(followed, now, before);
}
