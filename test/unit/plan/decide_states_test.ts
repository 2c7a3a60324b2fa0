import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ContainerState,
  LABELS,
  MANAGER,
  type ServiceAction,
  type ServiceExpectation,
} from "../../../src/model/mod.ts";
import { decide, type DecideInput } from "../../../src/plan/mod.ts";
import { containerOf, EXPECTED, serviceOf } from "./values.ts";

const POLICY = { removeOrphans: true };
const STATES: readonly ContainerState[] = [
  "created",
  "running",
  "paused",
  "restarting",
  "removing",
  "exited",
  "dead",
];

/** What a service of each kind needs in each state its container may be in; others are kept. */
const KINDS: readonly {
  readonly kind: string;
  readonly expectation: Partial<ServiceExpectation>;
  readonly exitCode?: number;
  readonly started: readonly ContainerState[];
}[] = [
  {
    kind: "restart: always",
    expectation: { restarts: true, mayFinish: false },
    started: ["created", "exited", "dead", "paused"],
  },
  { kind: 'restart: "no"', expectation: {}, started: ["created", "exited", "dead", "paused"] },
  {
    kind: 'restart: "no", at its end',
    expectation: {},
    exitCode: 0,
    started: ["created", "paused"],
  },
  {
    kind: "a one-shot",
    expectation: { oneShot: true },
    started: ["created", "exited", "dead", "paused"],
  },
  {
    kind: "a one-shot at its end",
    expectation: { oneShot: true },
    exitCode: 0,
    started: ["created", "paused"],
  },
  {
    kind: "a one-shot that restarts",
    expectation: { oneShot: true, restarts: true, mayFinish: false },
    started: ["created", "exited", "dead", "paused"],
  },
  {
    kind: "autostart: false",
    expectation: { autostart: false, restarts: true, mayFinish: false },
    started: [],
  },
];

describe("decide() and the state of a container that is up to date", () => {
  for (const { kind, expectation, exitCode = 1, started } of KINDS) {
    for (const state of STATES) {
      const action: ServiceAction = started.includes(state) ? "start" : "keep";
      it(`says ${action} when it is ${state}, with ${kind}`, () => {
        const service = serviceOf("web", { expectation: { ...EXPECTED, ...expectation } });
        const plan = decide({
          desired: [service],
          observed: { containers: [containerOf("web", { state, exitCode })] },
          previous: [service],
          policy: POLICY,
          images: {},
        });
        assert.equal(plan.services[0]?.action, action);
        assert.equal(plan.kind, action === "keep" ? "skip" : "deploy");
      });
    }
  }
});

function actions(input: Partial<DecideInput>): Record<string, string> {
  const plan = decide({
    desired: [],
    observed: { containers: [] },
    previous: [],
    policy: POLICY,
    images: {},
    ...input,
  });
  return Object.fromEntries(plan.services.map((each) => [each.name, each.action]));
}

describe("decide() and services that follow others", () => {
  const chain = [
    serviceOf("a", { digest: "a-2" }),
    serviceOf("b", { follows: { a: "shares the network namespace of a" } }),
    serviceOf("c", { follows: { b: "shares the pid namespace of b" } }),
    serviceOf("d"),
  ];
  const containers = ["a", "b", "c", "d"].map((name) => containerOf(name));

  it("replaces a whole chain when its head is replaced, and nothing beside it", () => {
    const expected = { a: "recreate", b: "recreate", c: "recreate", d: "keep" };
    assert.deepEqual(actions({ desired: chain, observed: { containers } }), expected);
    const desired = [...chain].reverse();
    assert.deepEqual(actions({ desired, observed: { containers } }), expected);
  });

  it("replaces a follower when the container it follows is missing and made anew", () => {
    const observed = { containers: containers.filter((each) => each.service !== "a") };
    assert.equal(actions({ desired: chain, observed })["b"], "recreate");
  });

  it("replaces a follower that is to be scaled: the containers it has would stay in a dead namespace", () => {
    const many = { ...EXPECTED, replicas: 2 };
    const desired = chain.map((each) => each.name === "b" ? { ...each, expectation: many } : each);
    assert.equal(actions({ desired, observed: { containers } })["b"], "recreate");
  });

  it("replaces one in the namespace of a service that is started again, while it runs itself", () => {
    const always = { ...EXPECTED, restarts: true, mayFinish: false };
    const a = serviceOf("a", { expectation: always });
    const stopped = containerOf("a", { state: "exited", exitCode: 1 });
    const table = [
      ["recreate", "shares the network namespace of a", containerOf("b")],
      ["keep", "depends on a with restart: true", containerOf("b")],
      ["keep", "shares the ipc namespace of a", containerOf("b", { state: "exited", exitCode: 0 })],
    ] as const;
    for (const [action, reason, b] of table) {
      const desired = [a, serviceOf("b", { follows: { a: reason } })];
      const observed = { containers: [stopped, b] };
      assert.deepEqual(
        actions({ desired, observed, previous: desired }),
        { a: "start", b: action },
        reason,
      );
    }
  });

  it("leaves a follower alone when what it follows is only scaled", () => {
    const always = { ...EXPECTED, restarts: true, mayFinish: false };
    const desired = [serviceOf("a", { expectation: always }), chain[1] ?? serviceOf("b")];
    const scaled = [serviceOf("a", { expectation: { ...always, replicas: 2 } }), desired[1]!];
    assert.deepEqual(
      actions({ desired: scaled, observed: { containers: [containerOf("a"), containerOf("b")] } }),
      { a: "scale", b: "keep" },
    );
  });

  it("makes no container of a follower that is scaled to none", () => {
    const none = { ...EXPECTED, replicas: 0 };
    const desired = chain.map((each) => each.name === "b" ? { ...each, expectation: none } : each);
    const observed = { containers: containers.filter((each) => each.service !== "b") };
    assert.deepEqual(actions({ desired, observed }), {
      a: "recreate",
      b: "keep",
      c: "keep",
      d: "keep",
    });
  });

  it("ends when services follow each other", () => {
    const desired = [
      serviceOf("a", { digest: "a-2", follows: { b: "follows b" } }),
      serviceOf("b", { follows: { a: "follows a" } }),
    ];
    assert.deepEqual(actions({ desired, observed: { containers } }), {
      a: "recreate",
      b: "recreate",
      c: "remove",
      d: "remove",
    });
  });
});

describe("decide() and containers of services that nobody wants", () => {
  const ours = containerOf("old");
  const foreign = containerOf("old", { labels: {} });
  const web = [serviceOf("web")];
  const table: readonly {
    readonly when: string;
    readonly input: Partial<DecideInput>;
    readonly expected: Readonly<Record<string, string>>;
    readonly kind: "skip" | "deploy";
  }[] = [
    {
      when: "it is ours",
      input: { desired: web, observed: { containers: [containerOf("web"), ours] } },
      expected: { web: "keep", old: "remove" },
      kind: "deploy",
    },
    {
      when: "it is ours and orphans stay",
      input: {
        desired: web,
        observed: { containers: [containerOf("web"), ours] },
        policy: { removeOrphans: false },
      },
      expected: { web: "keep" },
      kind: "skip",
    },
    {
      when: "it is foreign and nothing else is to do",
      input: { desired: web, observed: { containers: [containerOf("web"), foreign] } },
      expected: { web: "keep", old: "keep" },
      kind: "skip",
    },
    {
      when: "it is foreign and a release is rolled out",
      input: {
        desired: [serviceOf("web", { digest: "web-2" })],
        observed: { containers: [containerOf("web"), foreign] },
      },
      expected: { web: "recreate", old: "remove" },
      kind: "deploy",
    },
    {
      when: "the whole stack is adopted now",
      input: {
        desired: web,
        observed: { containers: [containerOf("web", { labels: {} }), foreign] },
        previous: undefined,
      },
      expected: { web: "recreate", old: "keep" },
      kind: "deploy",
    },
    {
      when: "the ledger was lost and the stack is ours",
      input: {
        desired: web,
        observed: { containers: [containerOf("web"), ours] },
        previous: undefined,
      },
      expected: { web: "keep", old: "remove" },
      kind: "deploy",
    },
  ];
  for (const { when, input, expected, kind } of table) {
    it(`says ${JSON.stringify(expected)} when ${when}`, () => {
      assert.deepEqual(actions(input), expected);
      const plan = decide({
        desired: [],
        observed: { containers: [] },
        previous: [],
        policy: POLICY,
        images: {},
        ...input,
      });
      assert.equal(plan.kind, kind);
    });
  }
});

describe("decide() and its reasons", () => {
  it("are the same whatever order containers and their labels come in", () => {
    const labels = { [LABELS.manager]: MANAGER };
    const containers = [
      containerOf("web", { id: "1", name: "stack-web-1", labels: { ...labels } }),
      containerOf("web", {
        id: "2",
        name: "stack-web-2",
        labels: { ...labels, [LABELS.digest]: "x" },
      }),
      containerOf("zeta", { labels: {} }),
      containerOf("alpha", { labels: {} }),
    ];
    const forward = { containers };
    const backward = { containers: [...containers].reverse() };
    for (const previous of [undefined, [serviceOf("web")]]) {
      const input = { desired: [serviceOf("web")], previous, policy: POLICY, images: {} };
      assert.deepEqual(
        decide({ ...input, observed: forward }),
        decide({ ...input, observed: backward }),
      );
    }
  });

  it("name every input that changed, in words for people", () => {
    const before = serviceOf("web", {
      inputs: {
        definition: "aaaa",
        "file:site": "directory:bbbb",
        "build:app": "directory:cccc",
        "follows:db": "dddd",
        variables: "eeee",
        build_arguments: "ffff",
        "file:gone": "file:1111",
        "file:never": "absent",
      },
    });
    const after = serviceOf("web", {
      digest: "web-2",
      inputs: {
        definition: "aaa2",
        "file:site": "directory:bbb2",
        "build:app": "directory:ccc2",
        "follows:db": "ddd2",
        variables: "eee2",
        build_arguments: "fff2",
        "file:new": "file:2222",
        "file:neither": "absent",
      },
    });
    const plan = decide({
      desired: [after],
      observed: { containers: [containerOf("web")] },
      previous: [before],
      policy: POLICY,
      images: {},
    });
    assert.deepEqual([...plan.services[0]?.because ?? []].sort(), [
      "build input app changed",
      "its build arguments changed",
      "its definition changed",
      "mounted gone is gone",
      "mounted new is new",
      "mounted site changed",
      "the service db it shares with changed",
      "the variables its secrets come from changed",
    ]);
  });

  it("tells twenty reasons of a service, however many of its mounts changed", () => {
    const mounting = (state: string) =>
      serviceOf("web", {
        digest: `web-${state}`,
        inputs: Object.fromEntries(
          Array.from({ length: 2000 }, (_, file) => [`file:${file}`, `file:${state}`]),
        ),
      });
    const plan = decide({
      desired: [mounting("2")],
      observed: { containers: [containerOf("web")] },
      previous: [mounting("1")],
      policy: POLICY,
      images: {},
    });
    const because = plan.services[0]?.because ?? [];
    assert.equal(because.length, 21);
    assert.equal(because.at(-1), "1980 more of what it is made from changed");
  });
});
