import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ApplyInput, applySteps } from "../../../src/deploy/apply_steps.ts";
import { LABELS, MANAGER, type ServiceAction } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
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
    containers: [],
    ...rest,
  });
  const pairs = (record: Readonly<Record<string, unknown>>) =>
    Object.entries(record).map(([name, value]) => `${name}=${value}`).join(" ");
  const text = (step: typeof steps.before[number]) => {
    if (step.kind === "remove") return `remove ${step.services.join(" ")}`;
    if (step.kind === "stop") return `stop ${step.services.join(" ")}`;
    if (step.kind === "wait") {
      return `wait ${
        step.conditions.map((each) => `${each.dependency} ${each.condition}`).join(", ")
      }`;
    }
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
    before: ["stop a", "replace b=3"],
    after: ["remove a"],
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
    what: "stops what holds a port first",
    given: {
      actions: { a: "create", old: "remove", older: "remove" },
      next: { a: port("8080") },
      previous: { old: port("8080"), older: port("8081") },
    },
    before: ["stop old", "complete a=1"],
    after: ["remove old older"],
  },
  {
    what: "stops what holds a container name first",
    given: {
      actions: { a: "recreate", old: "remove" },
      next: { a: { container_name: "front" } },
      previous: { old: { container_name: "front" } },
    },
    before: ["stop old", "replace a=1"],
    after: ["remove old"],
  },
  {
    what: "stops what gives a port to a service that is replaced by rules beside it",
    given: {
      actions: { a: "recreate", b: "recreate" },
      rolled: new Set(["a", "b"]),
      next: { a: {}, b: port("8080") },
      previous: { a: port("8080"), b: {} },
    },
    before: ["stop a", "roll a=1 b=1"],
  },
  {
    what: "stops nothing that keeps its port when it is replaced by rules",
    given: {
      actions: { a: "recreate", b: "recreate" },
      rolled: new Set(["a", "b"]),
      next: { a: port("8081"), b: port("8080") },
      previous: { a: port("8081"), b: port("8080") },
    },
    before: ["roll a=1 b=1"],
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
    what: "stops first when the port is on every address",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("80", { host_ip: "127.0.0.1" }) },
      previous: { old: port("80", { host_ip: "0.0.0.0" }) },
    },
    before: ["stop old", "complete a=1"],
    after: ["remove old"],
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
    what: "stops what holds a fixed address first",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: { networks: { lan: { ipv4_address: "10.0.0.9" } } } },
      previous: { old: { networks: { lan: { ipv4_address: "10.0.0.9" } } } },
    },
    before: ["stop old", "complete a=1"],
    after: ["remove old"],
  },
  {
    what: "stops what uses the host's network before another does, or publishes a port",
    given: {
      actions: { a: "create", old: "remove" },
      next: { a: port("80") },
      previous: { old: { network_mode: "host" } },
    },
    before: ["stop old", "complete a=1"],
    after: ["remove old"],
  },
  {
    what: "stops what may write to the same data first",
    given: {
      actions: { postgres: "create", db: "remove", other: "remove" },
      next: { postgres: { volumes: [{ type: "bind", source: "/d/data", target: "/x" }] } },
      previous: {
        db: { volumes: [{ type: "bind", source: "/d", target: "/x" }] },
        other: { volumes: [{ type: "bind", source: "/d", target: "/x", read_only: true }] },
      },
    },
    before: ["stop db", "complete postgres=1"],
    after: ["remove db other"],
  },
  {
    what: "stops a service that is replaced later when an earlier one needs its port",
    given: {
      actions: { app: "recreate", vpn: "create" },
      desired: [serviceOf("app", { dependsOn: ["vpn"] }), serviceOf("vpn")],
      next: { vpn: port("80"), app: { network_mode: "service:vpn" } },
      previous: { app: port("80") },
    },
    before: ["stop app", "complete vpn=1", "replace app=1"],
  },
  {
    what: "stops nobody for a port that is exchanged by services replaced together",
    given: {
      actions: { a: "recreate", b: "recreate" },
      next: { a: port("80"), b: port("81") },
      previous: { a: port("81"), b: port("80") },
    },
    before: ["replace a=1 b=1"],
  },
  {
    what: "puts names aside that services replaced together exchange",
    given: {
      actions: { a: "recreate", b: "recreate" },
      next: { a: { container_name: "x" }, b: { container_name: "y" } },
      previous: { a: { container_name: "y" }, b: { container_name: "x" } },
    },
    before: ["stop a b", "replace a=1 b=1"],
  },
  {
    what: "stops orphans of ours that are in the way, though they are not to be removed",
    given: {
      actions: { a: "create" },
      next: { a: { ...port("80"), volumes: [{ type: "volume", source: "data" }] } },
      previous: { sharer: { volumes: [{ type: "volume", source: "data" }] } },
      containers: ["old", "sharer", "foreign"].map((name) =>
        runningContainer("shop", name, {
          labels: name === "foreign" ? {} : { [LABELS.manager]: MANAGER },
          hostPorts: name === "sharer" ? [] : [{ address: "", port: 80, protocol: "tcp" }],
        })
      ),
    },
    before: ["stop old sharer", "complete a=1"],
  },
  {
    what: "waits between two calls for what depends_on asks for",
    given: {
      actions: { web: "recreate", job: "create", db: "keep", off: "keep", late: "create" },
      desired: [
        serviceOf("web", { dependsOn: ["db", "job", "late"] }),
        serviceOf("job"),
        serviceOf("db"),
        serviceOf("off", { expectation: { ...ALWAYS, replicas: 0 } }),
        serviceOf("late"),
      ],
      next: {
        web: {
          depends_on: {
            db: { condition: "service_healthy", required: true },
            job: { condition: "service_completed_successfully", required: true },
            off: { condition: "service_healthy", required: true },
            late: { condition: "service_started", required: false },
          },
        },
      },
    },
    before: [
      "complete job=1 late=1",
      "wait db service_healthy, job service_completed_successfully",
      "replace web=1",
    ],
  },
  {
    what: "leaves the waiting to compose within one call",
    given: {
      actions: { web: "recreate", db: "recreate", job: "create", end: "recreate" },
      desired: [
        serviceOf("web", { dependsOn: ["db"] }),
        serviceOf("db"),
        serviceOf("job", { dependsOn: ["db"] }),
        serviceOf("end", { dependsOn: ["job"] }),
      ],
      next: { web: { depends_on: { db: { condition: "service_healthy" } } } },
    },
    before: ["replace web=1 db=1", "complete job=1", "replace end=1"],
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
