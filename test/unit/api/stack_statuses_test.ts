import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { viewDeployment } from "../../../src/api/deployments.ts";
import { stackStatuses, type StatusParts } from "../../../src/api/stack_statuses.ts";
import { containersText } from "../../../src/cli/containers_text.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import {
  COMPOSE_LABELS,
  type DecisionOutcome,
  type Run,
  type RunTarget,
  stackKey,
  StackwrightError,
} from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
import { releaseOf } from "../record/releases.ts";
import { createMemoryLedger, recordShop, SHOP } from "../../fakes/memory_ledger.ts";

const never = new AbortController().signal;

function runOf(target: Omit<RunTarget, "context" | "stack">, at: Date): Run {
  return {
    id: "1",
    trigger: "poll",
    status: "succeeded",
    repository: "multiple",
    target: "",
    revision: "",
    message: "",
    targets: [{ context: SHOP.context, stack: SHOP.name, ...target }],
    createdAt: at,
    updatedAt: at,
  };
}

/** Parts for statuses while no engine answers. */
function partsAway(ledger: StatusParts["ledger"], clock: StatusParts["clock"]): StatusParts {
  const engineOf = () => Promise.reject(new Error("away"));
  return { dataDir: "/data", engineOf, ledger, runs: { list: () => [] }, clock };
}

describe("stackStatuses()", () => {
  it("tells of a look that takes long, such as at a source that does not end", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    recordShop(ledger, clock);
    const run = runOf({ status: "pending", message: "writing its files" }, clock.now());
    const parts = { ...partsAway(ledger, clock), runs: { list: () => [run] } };
    const why = async () => (await stackStatuses(parts, never))[0]?.why ?? "";
    await clock.advance(59_000);
    assert.doesNotMatch(await why(), /writing/);
    await clock.advance(1_000);
    assert.match(await why(), /; a run since \S+ has not decided yet: writing its files$/);
  });

  it("tells when a failed release is tried again, until somebody holds the stack back", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    recordShop(ledger, clock);
    const retryAt = new Date(clock.now().getTime() + 60_000);
    const run = runOf({ status: "skipped", reason: "delay", retryAt }, clock.now());
    const parts: StatusParts = {
      dataDir: "/data",
      // An engine that does not answer: what is known is shown nevertheless.
      engineOf: () => Promise.reject(new Error("away")),
      ledger,
      runs: { list: () => [run] },
      clock,
    };
    const [failed] = await stackStatuses(parts, never);
    assert.deepEqual(failed?.retryAt, retryAt);

    const releaseId = ledger.current(SHOP)?.id ?? "";
    ledger.pins.set(SHOP, { releaseId, revision: "b".repeat(40), pinnedAt: clock.now() });
    const [held] = await stackStatuses(parts, never);
    assert.deepEqual([held?.state, held?.retryAt], ["held", undefined]);
  });

  it("says that a release was put back of the failure that did so, and of no later one", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    ledger.succeed(ledger.beginDeploy(releaseOf(SHOP, "d".repeat(40))), {}, "done");
    const crash = "web-1 exited with 4";
    const output = "; last output:\nboom; really";
    const sequel = "; the previous release was put back: web";
    ledger.fail(
      ledger.beginDeploy(releaseOf(SHOP, "e".repeat(40))),
      "rolled_back",
      crash + sequel + output,
    );
    const parts = partsAway(ledger, clock);
    const rolledBackAfter = async (release: string, message: string) => {
      ledger.failures.clear(SHOP);
      const failure = { release, source: "", message, at: clock.now(), automatic: true };
      ledger.failures.fail(SHOP, failure);
      const [status] = await stackStatuses(parts, never);
      assert.equal(status?.state, "failed");
      return status?.rolledBack;
    };
    assert.equal(await rolledBackAfter("e", crash + output), 2);
    assert.equal(await rolledBackAfter("f", "docker compose pull failed: no image"), undefined);
    assert.equal(await rolledBackAfter("removal", "engine refused DELETE /volumes/a"), undefined);

    await rolledBackAfter("e", crash + output);
    const engineOf = () => {
      ledger.beginDeploy(releaseOf(SHOP, "1".repeat(40)));
      return Promise.reject(new Error("away"));
    };
    const [begun] = await stackStatuses({ ...parts, engineOf }, never);
    assert.deepEqual([begun?.state, begun?.rolledBack], ["failed", 2], "the next one has begun");
  });

  it("does not list a stack without a release that a look found superseded: that removed it", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    const about = { trigger: "poll", origin: "automatic", revision: "main (a)" } as const;
    const nothing = { kind: "skip", message: "", changes: [], services: [] } as const;
    const parts = partsAway(ledger, clock);
    for (const [reason, listed] of [["delay", 1], ["superseded", 0]] as const) {
      ledger.decisions.add(SHOP, { ...about, ...nothing, reason }, clock.now());
      assert.equal((await stackStatuses(parts, never)).length, listed);
    }
  });

  it("says of a stack whose context is gone what there is to be done", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    const NAS = { context: "nas", name: "shop" };
    recordShop(ledger, clock, NAS);
    const engineOf = () => Promise.reject(new StackwrightError("bad_request", "unknown context"));
    const parts: StatusParts = {
      engineOf,
      ledger,
      runs: { list: () => [] },
      clock,
      dataDir: "/data",
    };
    const [status] = await stackStatuses(parts, never);
    assert.match(status?.why ?? "", /^there is no context nas any more: make it again, or have/);
    assert.match(status?.why ?? "", /stackwright forget --context nas shop$/);
  });

  it("says that an engine was too slow, and not that nothing runs", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    recordShop(ledger, clock);
    ledger.succeed(ledger.beginDeploy(releaseOf(SHOP, "d".repeat(40))), {}, "done");
    ledger.failures.clear(SHOP);
    const parts: StatusParts = {
      dataDir: "/data",
      engineOf: () => new Promise(() => {}),
      ledger,
      runs: { list: () => [] },
      clock,
    };
    const asked = stackStatuses(parts, never);
    await clock.advance(5_000);
    const [status] = await asked;
    assert.ok(status !== undefined);
    assert.equal(status.why, "the engine did not answer within 5 s");
    const viewed = viewDeployment(status, (at) => at.toISOString());
    assert.equal("running" in viewed, false);
    assert.equal(containersText({ ...viewed, wanted: 2 }), "unknown ?/2");
  });

  it("tells when a repair that failed is made again", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    recordShop(ledger, clock);
    const retryAt = new Date(clock.now().getTime() + 10_000);
    ledger.decisions.add(SHOP, {
      trigger: "reconciliation",
      origin: "automatic",
      revision: "refs/heads/main (aaaaaaaaaaaa)",
      kind: "repair",
      message: "release 1 comes back",
      changes: [],
      services: [],
      outcome: { status: "failed", message: "web did not stay", retryAt: retryAt.toISOString() },
    }, clock.now());
    const parts = partsAway(ledger, clock);
    const [failed] = await stackStatuses(parts, never);
    assert.deepEqual(failed?.retryAt, retryAt);
    await clock.advance(10_000);
    const [later] = await stackStatuses(parts, never);
    assert.equal(later?.retryAt, undefined);
  });

  it("lists a stack whose first deployment failed, until nobody has spoken of it for long", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    const add = (outcome: DecisionOutcome) =>
      ledger.decisions.add(SHOP, {
        trigger: "poll",
        origin: "automatic",
        revision: "refs/heads/main (aaaaaaaaaaaa)",
        kind: "deploy",
        message: "create web",
        changes: [],
        services: [{ name: "web", action: "create", because: ["first deployment"] }],
        outcome,
      }, clock.now());
    add({ status: "failed", message: "the port is taken" });
    const parts = partsAway(ledger, clock);
    const listed = async () => (await stackStatuses(parts, never)).map(({ state }) => state);
    assert.deepEqual(await listed(), ["unknown"]);
    await clock.advance(8 * 24 * 60 * 60 * 1000);
    assert.deepEqual(await listed(), []);
  });

  it("tells of a first deployment before anything was decided about the stack", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    ledger.beginDeploy(releaseOf(SHOP, "a".repeat(40)));
    const engineOf = () => Promise.reject(new Error("away"));
    const parts: StatusParts = {
      engineOf,
      ledger,
      runs: { list: () => [] },
      clock,
      dataDir: "/data",
    };
    const told = (await stackStatuses(parts, never)).map(({ key, state }) => ({ key, state }));
    assert.deepEqual(told, [{ key: SHOP, state: "deploying" }]);
  });

  it("asks an engine for all stacks, and for the containers of one where it is about one", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    recordShop(ledger, clock);
    const asked: unknown[] = [];
    const listContainers = (labels: Readonly<Record<string, string | undefined>>) => {
      const [[name, value] = []] = Object.entries(labels);
      if (name === COMPOSE_LABELS.project) asked.push(value);
      return Promise.resolve([]);
    };
    const engineOf = () => Promise.resolve({ listContainers } as unknown as Engine);
    const parts: StatusParts = {
      engineOf,
      ledger,
      runs: { list: () => [] },
      clock,
      dataDir: "/data",
    };
    const [one] = await stackStatuses(parts, never, SHOP);
    const [other] = await stackStatuses(parts, never);
    assert.deepEqual([one?.state, one?.why], [other?.state, other?.why]);
    assert.deepEqual(asked, [SHOP.name, undefined]);
  });

  it("says of a stack of more containers than are looked at that nothing is known of it", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    ledger.succeed(ledger.beginDeploy(releaseOf(SHOP, "a")), {}, "done");
    const containers = Array.from(
      { length: 3001 },
      (_, at) => runningContainer(SHOP.name, "web", { id: `${at}` }),
    );
    const listContainers = (labels: Readonly<Record<string, string | undefined>>) =>
      Promise.resolve(COMPOSE_LABELS.project in labels ? containers : []);
    const engineOf = () => Promise.resolve({ listContainers } as unknown as Engine);
    const parts = { engineOf, ledger, runs: { list: () => [] }, clock, dataDir: "/data" };
    const [status] = await stackStatuses(parts, never);
    assert.equal(status?.state, "unknown");
    assert.match(status.why, /has 3001 containers .* nothing is decided about it/);
  });

  it("asks no engine but that of the context it is asked about, however long others take", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    for (const context of ["", "far"]) {
      const key = stackKey(context, "shop");
      ledger.succeed(ledger.beginDeploy(releaseOf(key, "a".repeat(40))), {}, "done");
    }
    const asked: string[] = [];
    const engineOf = (context: string) => {
      asked.push(context);
      return Promise.resolve({ listContainers: () => Promise.resolve([]) } as unknown as Engine);
    };
    const parts: StatusParts = {
      engineOf,
      ledger,
      runs: { list: () => [] },
      clock,
      dataDir: "/data",
    };
    const { context } = stackKey("", "");
    const listed = await stackStatuses(parts, never, { context });
    assert.deepEqual(listed.map(({ key }) => key), [stackKey("", "shop")]);
    assert.deepEqual(asked, [context]);
  });

  it("knows what runs beside the services of a swarm that the engine manages no more", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    for (const [name, more] of [["plain", {}], ["swarmed", { swarm: {} }]] as const) {
      const key = stackKey("", name);
      ledger.succeed(ledger.beginDeploy(releaseOf(key, "a".repeat(40), more)), {}, "done");
    }
    const refused = () => Promise.reject(new StackwrightError("engine_refused", "no manager"));
    const engine = { listContainers: () => Promise.resolve([]), swarm: { services: refused } };
    const engineOf = () => Promise.resolve(engine as unknown as Engine);
    const statuses = await stackStatuses(
      { engineOf, ledger, runs: { list: () => [] }, clock, dataDir: "/data" },
      never,
    );
    assert.deepEqual(statuses.map(({ state }) => state), ["drifted", "unknown"]);
  });

  it("asks once whose a stack is, however many runs of others named it", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    recordShop(ledger, clock);
    ledger.owners.settle(SHOP, { source: "h/honest", reference: "main" });
    const { owners } = ledger;
    let asked = 0;
    const counted = Object.create(ledger, {
      owners: {
        value: { get: (key: typeof SHOP) => (asked++, owners.get(key)), contextsBeside: () => [] },
      },
    });
    const run = { ...runOf({ status: "failed" }, clock.now()), repository: "h/other" };
    const list = () => Array.from({ length: 50 }, () => run);
    const engineOf = () => Promise.reject(new Error("away"));
    await stackStatuses(
      { engineOf, ledger: counted, runs: { list }, clock, dataDir: "/data" },
      never,
    );
    // And once where its configuration was read.
    assert.equal(asked, 2);
  });
});
