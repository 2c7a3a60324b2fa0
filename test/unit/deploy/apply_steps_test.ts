import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ApplyInput, applySteps } from "../../../src/deploy/apply_steps.ts";
import type { ServiceAction } from "../../../src/model/mod.ts";
import { ALWAYS, serviceOf } from "./releases.ts";

type Definitions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A model whose ports have the shape that `docker compose config` prints. */
function modelOf(services: Definitions) {
  return { name: "shop", services };
}

function port(published: string, more: Readonly<Record<string, unknown>> = {}) {
  return { ports: [{ mode: "ingress", target: 80, published, protocol: "tcp", ...more }] };
}

interface Given extends Partial<Omit<ApplyInput, "services" | "model" | "previousModel">> {
  readonly actions: Readonly<Record<string, ServiceAction>>;
  readonly next?: Definitions;
  readonly previous?: Definitions;
}

/** Steps as short texts: `remove a`, `replace b=1`, `complete c=2 (not started)`. */
function stepsOf({ actions, next = {}, previous, ...rest }: Given) {
  const steps = applySteps({
    services: Object.entries(actions).map(([name, action]) => ({ name, action, because: ["x"] })),
    desired: Object.keys(actions).filter((name) => actions[name] !== "remove").map((name) =>
      serviceOf(name)
    ),
    model: modelOf(next),
    previousModel: previous === undefined ? undefined : modelOf(previous),
    running: new Set(),
    ...rest,
  });
  const pairs = (record: Readonly<Record<string, unknown>>) =>
    Object.entries(record).map(([name, value]) => `${name}=${value}`).join(" ");
  const text = (step: typeof steps.before[number]) => {
    if (step.kind === "remove") return `remove ${step.services.join(" ")}`;
    if (step.kind === "signal") return `signal ${pairs(step.signals)}`;
    return `${step.mode} ${pairs(step.scale)}${step.noStart ? " (not started)" : ""}`;
  };
  return { before: steps.before.map(text), after: steps.after.map(text) };
}

const held = { ...ALWAYS, autostart: false };

const TABLE: readonly {
  readonly what: string;
  readonly given: Given;
  readonly before: readonly string[];
  readonly after?: readonly string[];
}[] = [
  { what: "nothing for services that stay", given: { actions: { a: "keep" } }, before: [] },
  {
    what: "replaces first, and completes in one step",
    given: {
      actions: { a: "create", b: "recreate", c: "scale", d: "start", e: "recreate", f: "keep" },
    },
    before: ["replace b=1 e=1", "complete a=1 c=1 d=1"],
  },
  {
    what: "tells services of files that changed in place before it replaces anything",
    given: {
      actions: { a: "reload", b: "recreate", c: "reload" },
      desired: [
        serviceOf("a", { inPlace: { files: {}, signal: "SIGHUP" } }),
        serviceOf("b", { inPlace: { files: {}, signal: "SIGUSR1" } }),
        serviceOf("c", { inPlace: { files: {} } }),
      ],
    },
    before: ["signal a=SIGHUP", "replace b=1"],
  },
  {
    what: "completes first when something replaced depends on it",
    given: {
      actions: { web: "recreate", db: "create" },
      desired: [serviceOf("web", { dependsOn: ["db"] }), serviceOf("db")],
    },
    before: ["complete db=1", "replace web=1"],
  },
  {
    what: "asks for the number of containers of each service",
    given: {
      actions: { a: "scale", b: "recreate" },
      desired: [
        serviceOf("a", { expectation: { ...ALWAYS, replicas: 0 } }),
        serviceOf("b", { expectation: { ...ALWAYS, replicas: 3 } }),
      ],
    },
    before: ["replace b=3", "complete a=0"],
  },
  {
    what: "does not start new containers of a service that is not to be started",
    given: {
      actions: { a: "create", b: "create" },
      desired: [serviceOf("a", { expectation: held }), serviceOf("b")],
    },
    before: ["complete b=1", "complete a=1 (not started)"],
  },
  {
    what: "replaces a stopped container of such a service by a stopped one",
    given: {
      actions: { a: "recreate", b: "recreate" },
      desired: [serviceOf("a", { expectation: held }), serviceOf("b")],
    },
    before: ["replace b=1", "replace a=1 (not started)"],
  },
  {
    what: "replaces a running container of such a service by a running one",
    given: {
      actions: { a: "recreate" },
      desired: [serviceOf("a", { expectation: held })],
      running: new Set(["a"]),
    },
    before: ["replace a=1"],
  },
  {
    what: "starts such a service again where it ran before",
    given: {
      actions: { a: "start", b: "create", c: "create" },
      desired: ["a", "b", "c"].map((name) => serviceOf(name, { expectation: held })),
      running: new Set(["a", "b"]),
    },
    before: ["complete a=1 b=1", "complete c=1 (not started)"],
  },
  {
    what: "removes what is in nobody's way last",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("8080") },
      previous: { old: port("9090") },
    },
    before: ["complete a=1"],
    after: ["remove old"],
  },
  {
    what: "removes what holds a port first",
    given: {
      actions: { a: "create", old: "remove", older: "remove" },
      next: { a: port("8080") },
      previous: { old: port("8080"), older: port("8081") },
    },
    before: ["remove old", "complete a=1"],
    after: ["remove older"],
  },
  {
    what: "removes what holds a container name first",
    given: {
      actions: { a: "recreate", old: "remove" },
      next: { a: { container_name: "front" } },
      previous: { old: { container_name: "front" } },
    },
    before: ["remove old", "replace a=1"],
  },
  {
    what: "removes last when only services that stay use the same port",
    given: {
      actions: { a: "keep", old: "remove" },
      next: { a: port("8080") },
      previous: { old: port("8080") },
    },
    before: [],
    after: ["remove old"],
  },
  {
    what: "removes last when the other protocol has the port",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("53", { protocol: "udp" }) },
      previous: { old: port("53") },
    },
    before: ["complete a=1"],
    after: ["remove old"],
  },
  {
    what: "removes last when the port is on another address",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("80", { host_ip: "127.0.0.1" }) },
      previous: { old: port("80", { host_ip: "127.0.0.2" }) },
    },
    before: ["complete a=1"],
    after: ["remove old"],
  },
  {
    what: "removes first when the port is on every address",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("80", { host_ip: "127.0.0.1" }) },
      previous: { old: port("80", { host_ip: "0.0.0.0" }) },
    },
    before: ["remove old", "complete a=1"],
  },
  {
    what: "removes last when the engine chooses the port",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("") },
      previous: { old: port("") },
    },
    before: ["complete a=1"],
    after: ["remove old"],
  },
  {
    what: "removes last when nobody knows what runs",
    given: { actions: { a: "create", old: "remove" }, next: { a: port("8080") } },
    before: ["complete a=1"],
    after: ["remove old"],
  },
];

describe("applySteps()", () => {
  for (const { what, given, before, after = [] } of TABLE) {
    it(what, () => {
      assert.deepEqual(stepsOf(given), { before, after });
    });
  }
});
