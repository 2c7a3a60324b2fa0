import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  LABELS,
  MANAGER,
  type ObservedContainer,
  type ReleaseService,
} from "../../../src/model/mod.ts";
import { judgeStack, type StackFacts, type StackState } from "../../../src/plan/mod.ts";

function service(name: string, fields: Partial<ReleaseService["expectation"]> = {}) {
  return {
    name,
    digest: `${name}-1`,
    inputs: {},
    expectation: {
      replicas: 1,
      restarts: true,
      mayFinish: false,
      oneShot: false,
      autostart: true,
      ...fields,
    },
    image: "app:1",
    builds: false,
    follows: {},
    dependsOn: [],
  } satisfies ReleaseService;
}

function container(name: string, fields: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: `${name}-id`,
    name: `shop-${name}-1`,
    service: name,
    state: "running",
    health: "healthy",
    exitCode: undefined,
    imageId: "sha256:image",
    labels: { [LABELS.manager]: MANAGER, [LABELS.digest]: `${name}-1` },
    ...fields,
  };
}

const current = { number: 7, services: [service("web")] };
const GOOD: StackFacts = {
  current,
  decision: { kind: "skip", reason: "no_changes", message: "no changes" },
  failure: undefined,
  isPinned: false,
  observed: { containers: [container("web")] },
};
const failure = { message: "web exited with 3" };
const paused = { kind: "skip", reason: "paused", message: "shop is paused" } as const;
const resumed = { ...paused, reason: "paused: rolled back" } as const;
const unnamed = { kind: "skip", reason: "unnamed", message: "kept" } as const;
const window = { kind: "skip", reason: "sync_window", message: "outside of nights" } as const;
const away = { kind: "error", code: "engine_unreachable", message: "gone" } as const;

const STATES: readonly [
  when: string,
  given: Partial<StackFacts>,
  state: StackState,
  why: RegExp,
][] = [
  ["everything is as it should be", {}, "synced", /^release 7 runs$/],
  [
    "somebody started a service whose profile is not active",
    {
      current: { ...current, inactive: ["db"] },
      observed: {
        containers: [container("web"), container("db", { labels: {}, health: "unhealthy" })],
      },
    },
    "synced",
    /^release 7 runs; left alone, since the profile of the service is not active: shop-db-1$/,
  ],
  ["a change was interrupted", { interrupted: "it ended", isPinned: true }, "failed", /^it ended$/],
  [
    "a person stopped it after a change was interrupted",
    { interrupted: "it ended", stopped: "a person stopped it", observed: { containers: [] } },
    "held",
    /^a person stopped it$/,
  ],
  [
    "a person stopped it, and something of it runs again",
    {
      stopped: "a person stopped it",
      observed: { containers: [container("web"), container("db", { state: "exited" })] },
    },
    "held",
    /^a person stopped it; shop-web-1 runs all the same: .* stop the project once more$/,
  ],
  ["a change is under way", { underWay: "pulling web", failure }, "deploying", /^pulling web$/],
  [
    "a person put an earlier release back",
    { isPinned: true, failure },
    "held",
    /^no changes; an earlier release was put back, and stays until .* or stackwright unpin$/,
  ],
  [
    "a look has said since what ends that",
    { isPinned: true, decision: { ...resumed, message: "rolled back; see unpin" } },
    "held",
    /^rolled back; see unpin$/,
  ],
  ["a person holds it", { heldBack: "held: CPU bug", failure: { message: "no" } }, "held", /CPU/],
  [
    "a person holds it, and nothing names it any more",
    { heldBack: "held: CPU bug", decision: { ...unnamed, message: "kept: held: CPU bug; waits" } },
    "held",
    /^kept: held: CPU bug; waits$/,
  ],
  [
    "a person holds it since nothing names it any more",
    { heldBack: "held: CPU bug", decision: unnamed },
    "held",
    /^held: CPU bug; kept$/,
  ],
  [
    "a person holds it after an earlier release was put back",
    { heldBack: "held until noon", isPinned: true },
    "held",
    /^held until noon; an earlier release was put back as well, and stays until .* unpin or resume$/,
  ],
  [
    "a person stopped it",
    { stopped: "a person stopped it", observed: { containers: [] } },
    "held",
    /stopped/,
  ],
  ["it is paused", { decision: paused }, "held", /^shop is paused$/],
  [
    "what held it is over",
    { decision: resumed },
    "waiting",
    /^release 7 runs; the next poll looks at newer commits/,
  ],
  [
    "a rollback was unpinned",
    {
      decision: {
        ...{ kind: "deploy", message: "back to release 6", trigger: "rollback" },
        outcome: { status: "succeeded", message: "release 6 again" },
      },
    },
    "waiting",
    /^release 7 runs; the next poll/,
  ],
  [
    "a second rollback failed",
    {
      isPinned: true,
      decision: {
        ...{ kind: "deploy", message: "back to release 3", trigger: "rollback" },
        outcome: { status: "failed", message: "web exited with 1" },
      },
    },
    "held",
    /^back to release 3; that failed, release 7 runs; an earlier release was put back, and stays/,
  ],
  ["its last release failed", { failure }, "failed", /^web exited with 3$/],
  [
    "it could not even be decided about",
    { decision: { kind: "error", message: "no such branch" } },
    "failed",
    /^no such branch$/,
  ],
  ["the engine was away, and is back", { decision: away }, "synced", /^release 7 runs$/],
  ["the engine is away", { decision: away, observed: undefined }, "unknown", /does not say what/],
  [
    "nothing is deployed on one that is",
    { current: undefined, decision: away },
    "unknown",
    /^gone$/,
  ],
  [
    "it failed before the engine went",
    { decision: away, failure },
    "failed",
    /^web exited with 3$/,
  ],
  [
    "it failed, and something else keeps it from being tried again",
    { failure, decision: { kind: "error", message: "port 80 is taken" } },
    "failed",
    /^port 80 is taken$/,
  ],
  ["it waits for a window", { decision: window }, "waiting", /^outside of nights$/],
  [
    "its first deployment waits for a job",
    { current: undefined, decision: { kind: "deploy", message: "create web; once" } },
    "waiting",
    /^create web; once$/,
  ],
  ["nothing names it any more", { decision: unnamed, failure }, "orphaned", /^kept$/],
  [
    "another context of its engine has it",
    { elsewhere: "by context same", observed: { containers: [] }, failure, isPinned: true },
    "orphaned",
    /^by context same$/,
  ],
  [
    "the engine restarts a container for ever",
    { loops: [{ id: "web-id", said: "shop-web-1 was restarted 12 times" }] },
    "drifted",
    /^0 of 1 containers run well: shop-web-1 was restarted 12 times$/,
  ],
  [
    "it does so, and ended just now",
    {
      loops: [{ id: "web-id", said: "shop-web-1 was restarted" }],
      observed: { containers: [container("web", { state: "restarting", exitCode: 3 })] },
    },
    "drifted",
    /^0 of 1 containers run well: shop-web-1 was restarted, exit 3$/,
  ],
  [
    "one did so that is gone",
    { loops: [{ id: "old", said: "old" }] },
    "synced",
    /^release 7 runs$/,
  ],
  ["a container is missing", { observed: { containers: [] } }, "drifted", /needs: create web$/],
  [
    "a container stopped that must run",
    { observed: { containers: [container("web", { state: "exited", exitCode: 1 })] } },
    "drifted",
    /^shop-web-1 exited with 1; release 7 needs: start web$/,
  ],
  [
    "the engine starts a container again and again",
    {
      observed: {
        containers: [container("web", { state: "restarting", exitCode: 3, health: "none" })],
      },
    },
    "drifted",
    /^0 of 1 containers run well: shop-web-1 is restarting, exited with 3$/,
  ],
  [
    "a container without a restart policy was killed",
    {
      current: { number: 7, services: [service("web", { restarts: false, mayFinish: true })] },
      observed: { containers: [container("web", { state: "exited", exitCode: 137 })] },
    },
    "drifted",
    /^shop-web-1 exited with 137; release 7 needs: start web$/,
  ],
  [
    "what may end has ended with 0",
    {
      current: { number: 7, services: [service("web", { restarts: false, mayFinish: true })] },
      observed: { containers: [container("web", { state: "exited", exitCode: 0 })] },
    },
    "synced",
    /^release 7 has ended with 0$/,
  ],
  [
    "a container is being removed",
    { observed: { containers: [container("web", { state: "removing", health: "none" })] } },
    "drifted",
    /^0 of 1 containers run well: shop-web-1 is removing$/,
  ],
  [
    "a container is not healthy",
    { observed: { containers: [container("web", { health: "unhealthy" })] } },
    "drifted",
    /^unhealthy: shop-web-1$/,
  ],
  ["the engine does not answer", { observed: undefined }, "unknown", /engine/],
  ["nothing is deployed", { current: undefined, decision: undefined }, "unknown", /^nothing is/],
  [
    "nothing is deployed, and what held it is over",
    { current: undefined, decision: { ...resumed, message: "held by a person" } },
    "unknown",
    /^nothing is deployed; what a repository still describes comes back/,
  ],
];

describe("judgeStack()", () => {
  for (const [when, given, state, why] of STATES) {
    it(`is ${state} when ${when}`, () => {
      const judged = judgeStack({ ...GOOD, ...given });
      assert.equal(judged.state, state);
      assert.match(judged.why, why);
    });
  }

  it("tells beside what holds a stack that it does not run as deployed", () => {
    const observed = { containers: [container("web", { state: "exited", exitCode: 7 })] };
    for (const held of [{ heldBack: "held" }, { isPinned: true }, { decision: paused }]) {
      const { state, drifted = "" } = judgeStack({ ...GOOD, ...held, observed });
      assert.equal(state, "held");
      assert.match(drifted, /exited with 7/);
      assert.equal(judgeStack({ ...GOOD, ...held }).drifted, undefined);
    }
    assert.equal(
      judgeStack({ ...GOOD, stopped: "a person stopped it", observed }).drifted,
      undefined,
    );
  });

  it("tells what was changed of a service of a swarm while it is there, and of a volume while none is", () => {
    const changed = [{ service: "web", field: "image", wanted: "a", found: "b" }];
    const services = [service("web")];
    const told = (swarm: boolean, containers: readonly ObservedContainer[]) =>
      judgeStack({
        ...GOOD,
        current: { number: 7, services, ...(swarm && { swarm: {} }) },
        observed: { containers },
        changed,
      }).drift.some(({ field }) => field === "image");
    assert.equal(told(true, [container("web")]), true);
    assert.equal(told(true, []), false);
    assert.equal(told(false, [container("web")]), false);
    assert.equal(told(false, []), true);
  });

  it("does not call a stack healthy whose first deployment failed", () => {
    const of = (containers: readonly ObservedContainer[]) =>
      judgeStack({ ...GOOD, current: undefined, failure, observed: { containers } });
    const exited = container("web", { state: "exited", exitCode: 3, health: "none" });
    for (const containers of [[], [exited], [container("web")]]) {
      assert.deepEqual([of(containers).state, of(containers).health], ["failed", "unknown"]);
    }
    assert.equal(of([container("web", { health: "unhealthy" })]).health, "unhealthy");
  });

  it("calls no change what an adoption left there, and says what removes it", () => {
    const gone = container("gone", { labels: {} });
    const of = (...containers: ObservedContainer[]) =>
      judgeStack({ ...GOOD, current, observed: { containers } });
    const { state, why } = of(container("web"), gone);
    assert.equal(state, "synced");
    assert.match(
      why,
      /^release 7 runs; container shop-gone-1 \(service gone\) is an orphan that was/,
    );
  });

  it("counts what runs, and what ended as it may", () => {
    const services = [
      service("web", { replicas: 2 }),
      service("init", { restarts: false, mayFinish: true }),
      service("job", { autostart: false }),
    ];
    const containers = [
      container("web"),
      container("init", { state: "exited", exitCode: 0, health: "none" }),
    ];
    const facts = { ...GOOD, current: { number: 7, services } };
    const count = (observed: readonly ObservedContainer[]) => {
      const { health, running, finished, wanted } = judgeStack({
        ...facts,
        observed: { containers: observed },
      });
      return [health, running, finished, wanted];
    };
    assert.deepEqual(count(containers), ["unhealthy", 1, 1, 3]);
    const second = container("web", { id: "2", name: "shop-web-2" });
    assert.deepEqual(count([...containers, second]), ["healthy", 2, 1, 3]);
    const starting = container("web", { id: "2", health: "starting" });
    assert.deepEqual(count([...containers, starting]), ["starting", 2, 1, 3]);
    assert.deepEqual(count([]), ["stopped", 0, 0, 3]);
    const { health } = judgeStack({ ...facts, observed: undefined });
    assert.equal(health, "unknown");
  });

  it("says that a release ended, not that it is healthy and runs, when nothing of it runs", () => {
    const services = [service("batch", { restarts: false, mayFinish: true })];
    const ended = container("batch", { state: "exited", exitCode: 0, health: "none" });
    const of = (facts: Partial<StackFacts>) => {
      const judged = judgeStack({ ...GOOD, current: { number: 7, services }, ...facts });
      const { state, why, health, running, finished } = judged;
      return [state, why, health, running, finished];
    };
    const observed = { containers: [ended] };
    const over = ["synced", "release 7 has ended with 0", "finished", 0, 1];
    assert.deepEqual(of({ observed }), over);
    const beside = { number: 7, services: [...services, service("web")] };
    const both = { containers: [ended, container("web")] };
    const why = "release 7 runs; 1 of 2 containers ended with 0";
    assert.deepEqual(of({ current: beside, observed: both }), ["synced", why, "healthy", 1, 1]);
    // A person's stop ends with 0 as well.
    const held = ["held", "a person stopped it", "stopped", 0, 0];
    assert.deepEqual(of({ observed, stopped: "a person stopped it" }), held);
  });

  it("says that a release of jobs has finished while none of them runs", () => {
    const job = service("job", { autostart: false });
    const of = (facts: Partial<StackFacts>) => {
      const { why, health } = judgeStack({
        ...GOOD,
        current: { number: 7, services: [job] },
        ...facts,
      });
      return [why, health];
    };
    const idle = ["release 7 is there; nothing of it has to run now", "finished"];
    const scaled = { number: 7, services: [service("web", { replicas: 0 })] };
    assert.deepEqual(of({ current: scaled, observed: { containers: [] } }), idle);
    const created = container("job", { state: "created", health: "none" });
    assert.deepEqual(of({ observed: { containers: [created] } }), idle);
    const runs = { containers: [container("job")] };
    assert.deepEqual(of({ observed: runs }), ["release 7 runs", "healthy"]);
    const none = of({ current: undefined, observed: { containers: [] } });
    assert.equal(none[1], "unknown");
  });

  it("does not say that a release runs whose container is being restarted", () => {
    const restarting = container("web", { state: "restarting", health: "none" });
    const { state, health, running } = judgeStack({
      ...GOOD,
      observed: { containers: [restarting] },
    });
    assert.deepEqual([state, health, running], ["drifted", "unhealthy", 0]);
  });
});
