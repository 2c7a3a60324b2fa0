import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ContainerState,
  LABELS,
  MANAGER,
  type ObservedContainer,
  type ReleaseService,
} from "../../../src/model/mod.ts";
import { decide, type DecideInput } from "../../../src/plan/mod.ts";
import { applyPlan } from "./apply_plan.ts";
import { containerOf, serviceOf } from "./values.ts";
import { fractionsFrom } from "../../fakes/random.ts";

const NAMES = ["api", "db", "job", "web", "zoo"];
const STATES: readonly ContainerState[] = ["created", "running", "paused", "exited", "dead"];
const CASES = 3000;

/** A source of choices that a seed repeats. */
function createChoices(seed: number) {
  const next = fractionsFrom(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability: number) => next() < probability,
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
    shuffle: <T>(values: readonly T[]): T[] =>
      values.map((value) => ({ value, at: next() })).sort((a, b) => a.at - b.at)
        .map(({ value }) => value),
  };
}

type Choices = ReturnType<typeof createChoices>;

function randomService(name: string, choices: Choices): ReleaseService {
  const restarts = choices.chance(0.5);
  const followed = NAMES.filter((each) => each !== name && choices.chance(0.15));
  return serviceOf(name, {
    digest: `${name}-${choices.below(2)}`,
    expectation: {
      replicas: choices.pick([0, 1, 1, 1, 2, 3]),
      restarts,
      mayFinish: !restarts,
      oneShot: choices.chance(0.2),
      autostart: !choices.chance(0.2),
    },
    follows: Object.fromEntries(followed.map((each) => [each, `follows ${each}`])),
  });
}

function randomContainers(name: string, choices: Choices): ObservedContainer[] {
  return Array.from({ length: choices.below(4) }, (_, index) =>
    containerOf(name, {
      id: `${name}-${index}`,
      name: `stack-${name}-${index + 1}`,
      state: choices.pick(STATES),
      exitCode: 0,
      imageId: choices.pick(["sha256:old", "sha256:new"]),
      labels: choices.pick([
        {},
        { [LABELS.manager]: MANAGER },
        { [LABELS.manager]: MANAGER, [LABELS.digest]: `${name}-${choices.below(2)}` },
        { [LABELS.manager]: MANAGER, [LABELS.digest]: `${name}-${choices.below(2)}` },
      ]),
    }));
}

function randomInput(choices: Choices): DecideInput {
  const some = () => NAMES.filter(() => choices.chance(0.7));
  const services = () => some().map((name) => randomService(name, choices));
  const desired = services();
  const moving = desired.filter(() => choices.chance(0.3)).map((each) => each.name);
  return {
    desired,
    observed: { containers: some().flatMap((name) => randomContainers(name, choices)) },
    previous: choices.pick([undefined, services(), desired]),
    policy: { ...(choices.chance(0.1) && { forced: "asked" }), removeOrphans: choices.chance(0.6) },
    images: Object.fromEntries(moving.map((name) => [name, "sha256:new"])),
  };
}

/** Calls `check` for many inputs; a failure names the seed that repeats it. */
function forAll(check: (input: DecideInput, choices: Choices) => void): void {
  for (let seed = 1; seed <= CASES; seed++) {
    const choices = createChoices(seed);
    const input = randomInput(choices);
    try {
      check(input, choices);
    } catch (error) {
      const text = JSON.stringify(input, null, 1);
      throw new Error(`seed ${seed}: ${(error as Error).message}\n${text}`, { cause: error });
    }
  }
}

describe("decide() for any input", () => {
  it("plans nothing more for the state that carrying its plan out leads to", () => {
    const kinds = new Set<string>();
    forAll((input) => {
      const plan = decide(input);
      kinds.add(plan.kind);
      const { desired, observed, images } = input;
      const after = applyPlan({ plan, desired, observed, images });
      // Replacing once is what was asked for: the next look asks for it no more.
      const policy = { ...input.policy, forced: undefined };
      const again = decide({ ...input, observed: after, previous: desired, policy });
      assert.equal(again.kind, "skip", JSON.stringify(again.services));
      assert.ok(again.services.every((each) => each.action === "keep"));
    });
    assert.deepEqual([...kinds].sort(), ["deploy", "skip"], "both kinds were generated");
  });

  it("leaves exactly the wanted containers, each with the wanted digest and image", () => {
    forAll((input) => {
      const { desired, observed, images } = input;
      const after = applyPlan({ plan: decide(input), desired, observed, images }).containers;
      for (const service of desired) {
        const own = after.filter((each) => each.service === service.name);
        assert.equal(own.length, service.expectation.replicas, service.name);
        for (const each of own) {
          assert.equal(each.labels[LABELS.digest], service.digest, each.name);
          assert.equal(each.imageId, images[service.name] ?? each.imageId);
        }
      }
    });
  });

  it("names every wanted service once, and no service twice", () => {
    forAll((input) => {
      const names = decide(input).services.map((each) => each.name);
      assert.equal(new Set(names).size, names.length);
      for (const { name } of input.desired) assert.ok(names.includes(name), name);
    });
  });

  it("gives reasons for every service, and a skip does nothing", () => {
    forAll((input) => {
      const plan = decide(input);
      for (const each of plan.services) {
        assert.ok(each.because.length > 0 && each.because.every((text) => text !== ""), each.name);
      }
      const acts = plan.services.some((each) => each.action !== "keep");
      assert.equal(plan.kind, acts ? "deploy" : "skip");
    });
  });

  it("does not depend on the order of containers, and changes none of its input", () => {
    forAll((input, choices) => {
      const before = JSON.stringify(input);
      const plan = decide(input);
      const containers = choices.shuffle(input.observed.containers);
      assert.deepEqual(decide({ ...input, observed: { containers } }), plan);
      assert.equal(JSON.stringify(input), before);
    });
  });

  it("decides the same about each service whatever order the release lists services in", () => {
    forAll((input, choices) => {
      const actions = (given: DecideInput) =>
        Object.fromEntries(decide(given).services.map((each) => [each.name, each.action]));
      const desired = choices.shuffle(input.desired);
      assert.deepEqual(actions({ ...input, desired }), actions(input));
    });
  });

  it("touches nothing that a release does not want while orphans are to stay", () => {
    forAll((input) => {
      const policy = { ...input.policy, removeOrphans: false };
      const wanted = new Set(input.desired.map((each) => each.name));
      const { services } = decide({ ...input, policy });
      assert.ok(services.every((each) => wanted.has(each.name)));
    });
  });

  it("replaces whatever follows something that gets a new container", () => {
    forAll((input) => {
      const actions = new Map(decide(input).services.map((each) => [each.name, each.action]));
      for (const service of input.desired.filter((each) => each.expectation.replicas > 0)) {
        const moved = Object.keys(service.follows).some((name) =>
          ["create", "recreate"].includes(actions.get(name) ?? "")
        );
        if (moved) {
          assert.ok(["create", "recreate"].includes(actions.get(service.name) ?? ""), service.name);
        }
      }
    });
  });
});
