import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { createWorld, IMAGE, type World } from "./world.ts";

/**
 * One failing call, at every place where there is a call. `SWEEP=full` fails every call in every way; the
 * ordinary run fails the ones that change something, which is where half-done work can be left.
 */
const AMONG = process.env["SWEEP"] === "full" ? "all" : "mutating";
const KINDS = process.env["SWEEP"] === "full"
  ? ["error", "cut", "timeout"] as const
  : ["error", "cut"] as const;

interface Scenario {
  readonly name: string;
  /** Files before and after the step that is broken. */
  readonly before?: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

const compose = (services: string) => `services:\n${services}`;
const web = (value: string, extra = "") =>
  `  web:\n    image: ${IMAGE}\n    command: [sleep, "100000"]\n    stop_grace_period: 0s\n` +
  `    environment: {VALUE: "${value}"}\n${extra}`;
const worker =
  `  worker:\n    image: ${IMAGE}\n    command: [sleep, "100000"]\n    stop_grace_period: 0s\n`;
const mounted = `    volumes: ["./page.txt:/page.txt:ro"]\n`;

const SCENARIOS: readonly Scenario[] = [
  { name: "a first deployment", after: { "compose.yaml": compose(web("1") + worker) } },
  {
    name: "a change of one service",
    before: { "compose.yaml": compose(web("1") + worker) },
    after: { "compose.yaml": compose(web("2") + worker) },
  },
  {
    name: "a change of a mounted file",
    before: { "compose.yaml": compose(web("1", mounted) + worker), "page.txt": "one" },
    after: { "compose.yaml": compose(web("1", mounted) + worker), "page.txt": "two" },
  },
  {
    name: "a removal of a service",
    before: { "compose.yaml": compose(web("1") + worker) },
    after: { "compose.yaml": compose(web("1")) },
  },
  {
    name: "a destroy",
    before: { "compose.yaml": compose(web("1") + worker) },
    after: { ".stackwright.yaml": "destroy" },
  },
];

describe("failing one engine call after the other", () => {
  for (const scenario of SCENARIOS) {
    it(`leaves the old or the new release, and converges, in ${scenario.name}`, async () => {
      const calls = await countCalls(scenario);
      assert.ok(calls > 0, "the scenario makes no call that could fail");
      for (let at = 1; at <= calls; at++) {
        for (const kind of KINDS) await failCall(scenario, { kind, at, among: AMONG });
      }
    });
  }
});

async function countCalls(scenario: Scenario): Promise<number> {
  const world = await createWorld({ engine: "fake" });
  try {
    await prepare(world, scenario);
    world.proxy.reset();
    await commit(world, scenario.after);
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", run.message);
    return AMONG === "mutating" ? world.proxy.mutations() : world.proxy.calls.length;
  } finally {
    await world.close();
  }
}

async function failCall(
  scenario: Scenario,
  fault: { kind: "error" | "cut" | "timeout"; at: number; among: "all" | "mutating" },
): Promise<void> {
  const world = await createWorld({ engine: "fake" });
  const where = `${scenario.name}, call ${fault.at}, ${fault.kind}`;
  try {
    await prepare(world, scenario);
    const old = await world.containers();
    await commit(world, scenario.after);
    world.proxy.reset(fault);
    const broken = await world.poll();
    world.proxy.reset();
    const left = await world.containers();
    if (broken.run.status === "failed" && old.length > 0 && !isDestroy(scenario)) {
      const running = (list: readonly ObservedContainer[]) =>
        new Set(list.filter((each) => each.state === "running").map((each) => each.service)).size;
      const wanted = Object.keys(servicesOf(scenario.after)).length;
      assert.ok(running(left) >= Math.min(running(old), wanted), `${where}: fewer services run`);
    }
    const again = await world.poll();
    assert.ok(
      ["succeeded", "skipped"].includes(again.run.status),
      `${where}: did not converge: ${again.run.message}`,
    );
    await assertConverged(world, scenario, where);
    world.proxy.reset();
    await world.poll();
    assert.equal(world.proxy.mutations(), 0, `${where}: not at rest after it converged`);
  } finally {
    await world.close();
  }
}

async function prepare(world: World, scenario: Scenario): Promise<void> {
  if (scenario.before === undefined) return;
  await commit(world, scenario.before);
  const { run } = await world.poll();
  assert.equal(run.status, "succeeded", run.message);
}

async function commit(world: World, files: Readonly<Record<string, string>>): Promise<void> {
  const destroy = files[".stackwright.yaml"] === undefined ? "" : "destroy: true\n";
  const options = "prune_images: false\ntimeout: 5\n";
  await world.repository.commit({
    ...files,
    ".stackwright.yaml": `name: ${world.stack}\n${options}${destroy}`,
  });
}

async function assertConverged(world: World, scenario: Scenario, where: string): Promise<void> {
  const containers = await world.containers();
  const wanted = isDestroy(scenario) ? [] : Object.keys(servicesOf(scenario.after)).sort();
  assert.deepEqual(
    containers.map((each) => `${each.service} ${each.state}`).sort(),
    wanted.map((name) => `${name} running`),
    where,
  );
}

function isDestroy(scenario: Scenario): boolean {
  return scenario.after[".stackwright.yaml"] !== undefined;
}

function servicesOf(files: Readonly<Record<string, string>>): Record<string, true> {
  const names = [...(files["compose.yaml"] ?? "").matchAll(/^ {2}(\w+):$/gm)].map((each) =>
    each[1] ?? ""
  );
  return Object.fromEntries(names.map((name) => [name, true]));
}
