import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type {
  Drift,
  ObservedContainer,
  ReconciliationEvent,
  ReconciliationOptions,
} from "../../../src/model/mod.ts";
import { decideReconciliation, type ReconciliationInput } from "../../../src/plan/mod.ts";
import { containerOf as container, serviceOf as service } from "./values.ts";

const DEAD = { state: "exited", exitCode: 137 } as const;
const SICK = { health: "unhealthy" } as const;

function options(...events: readonly ReconciliationEvent[]): ReconciliationOptions {
  return {
    enabled: true,
    events,
    drift: "report",
    restartTimeoutSeconds: 10,
    restartSignal: "",
    restartLimit: 5,
    restartWindowSeconds: 300,
  };
}

/** What was heard of the container of `web`. */
function heard(...events: readonly ReconciliationEvent[]) {
  return new Map([["web-id", new Set(events)]]);
}

/** One line for each thing that is done. */
function done(fields: Partial<ReconciliationInput>): string[] {
  const { plan, restarts, suppressed } = decideReconciliation({
    services: [service("db"), service("web")],
    observed: { containers: [container("db"), container("web")] },
    options: options("unhealthy"),
    heard: new Map(),
    restarts: () => 0,
    ...fields,
  });
  return [
    ...plan.services.filter((each) => each.action !== "keep").map((each) =>
      `${each.action} ${each.name}`
    ),
    ...restarts.map(({ container, counts }) => `restart ${container.service}${counts ? "" : "!"}`),
    ...suppressed.map((each) => `leave ${each.service}`),
  ];
}

const all = ["die", "destroy", "update", "stop", "kill", "oom", "unhealthy"] as const;
const web = (fields: Partial<ObservedContainer>) => ({
  containers: [container("db"), container("web", fields)],
});
const GONE = { containers: [container("db")] };

describe("decideReconciliation() of a stack of a swarm", () => {
  const stack = (observed: ReconciliationInput["observed"], ...events: ReconciliationEvent[]) =>
    done({ isStack: true, heard: undefined, observed, options: options(...events) });
  const more = { containers: [container("db"), container("web"), container("web")] };

  it("brings back a service that is gone, and its number of tasks, where its author reacts to it", () => {
    assert.deepEqual(stack(GONE, "destroy"), ["create web"]);
    assert.deepEqual(stack(GONE, "update", "die"), []);
    assert.deepEqual(stack(more, "update"), ["scale web"]);
    assert.deepEqual(stack(more, "destroy"), []);
  });

  it("mends what somebody changed by hand, where that is asked for", () => {
    const field = (service: string, field: string) => ({ service, field, wanted: "1", found: "2" });
    const mend = (observed: ReconciliationInput["observed"] | undefined, ...drift: Drift[]) =>
      done({
        isStack: true,
        heard: undefined,
        drift,
        options: options("unhealthy"),
        ...(observed === undefined ? {} : { observed }),
      });
    assert.deepEqual(mend(undefined, field("web", "environment X")), ["recreate web"]);
    assert.deepEqual(mend(more, field("web", "containers")), ["scale web"]);
    assert.deepEqual(mend(more, field("web", "containers"), field("web", "image")), [
      "recreate web",
    ]);
    assert.deepEqual(mend(undefined, field("extra", "service")), ["remove extra"]);
    assert.deepEqual(mend(more), []);
  });

  it("leaves to the swarm what ended, and what is not healthy", () => {
    assert.deepEqual(stack(web(DEAD), ...all), []);
    assert.deepEqual(stack(web(SICK), ...all), []);
  });
});

describe("decideReconciliation()", () => {
  // What the engine tells of each thing that happens, what is seen then, and what is done by each event.
  const table: readonly {
    readonly title: string;
    readonly told: readonly ReconciliationEvent[];
    readonly observed: ReconciliationInput["observed"];
    readonly by: Partial<Record<ReconciliationEvent, string>>;
  }[] = [
    {
      title: "an unhealthy container",
      told: ["unhealthy"],
      observed: web(SICK),
      by: { unhealthy: "restart web" },
    },
    {
      title: "one whose process got no memory, and lives",
      told: ["oom"],
      observed: web({}),
      by: { oom: "restart web!" },
    },
    {
      title: "one that the kernel ended for want of memory",
      told: ["oom", "die"],
      observed: web(DEAD),
      by: { oom: "start web", die: "start web" },
    },
    { title: "a crash", told: ["die"], observed: web(DEAD), by: { die: "start web" } },
    {
      title: "a kill",
      told: ["kill", "die"],
      observed: web(DEAD),
      by: { kill: "start web", die: "start web" },
    },
    {
      title: "a stop by hand, which is no crash",
      told: ["kill", "stop", "die"],
      observed: web(DEAD),
      by: { kill: "start web", stop: "start web" },
    },
    {
      title: "a removal of a stopped container",
      told: ["destroy"],
      observed: GONE,
      by: { destroy: "create web" },
    },
    {
      title: "a removal by force",
      told: ["kill", "die", "destroy"],
      observed: GONE,
      by: { kill: "create web", die: "create web", destroy: "create web" },
    },
    {
      title: "limits that somebody changed",
      told: ["update"],
      observed: web({}),
      by: { update: "recreate web" },
    },
    { title: "a signal that it goes on after", told: ["kill", "stop"], observed: web({}), by: {} },
    {
      title: "a restart by hand, which is over",
      told: ["kill", "stop", "die"],
      observed: web({}),
      by: {},
    },
  ];
  for (const { title, told, observed, by } of table) {
    it(`does about ${title} what each event that is listed says, once`, () => {
      for (const event of all) {
        const found = done({ observed, options: options(event), heard: heard(...told) });
        assert.deepEqual(found, by[event] === undefined ? [] : [by[event]], event);
      }
    });
  }

  it("leaves what was not heard of to the next look at everything", () => {
    const containers = [container("db", DEAD), container("web", DEAD)];
    const die = options("die");
    assert.deepEqual(done({ observed: { containers }, options: die, heard: heard("die") }), [
      "start web",
    ]);
    assert.deepEqual(done({ observed: { containers }, options: die, heard: undefined }), [
      "start db",
      "start web",
    ]);
    assert.deepEqual(done({ observed: GONE, options: die, heard: undefined }), ["create web"]);
    const unhealthy = options("unhealthy");
    assert.deepEqual(done({ observed: GONE, options: unhealthy, heard: undefined }), []);
  });

  it("leaves a container that ended as it may, and a job", () => {
    const ended = web({ state: "exited", exitCode: 0 });
    assert.deepEqual(done({ observed: ended, options: options(...all), heard: heard("die") }), []);
    const expectation = { ...service("web").expectation, autostart: false };
    const services = [service("db"), service("web", { expectation })];
    const asked = { services, observed: web(DEAD), options: options(...all), heard: heard("die") };
    assert.deepEqual(done(asked), []);
  });

  it("stops restarting at the limit, which 0 takes away", () => {
    const sick = { observed: web(SICK), heard: heard("unhealthy") };
    assert.deepEqual(done({ ...sick, restarts: () => 4 }), ["restart web"]);
    assert.deepEqual(done({ ...sick, restarts: () => 5 }), ["leave web"]);
    const without = { ...options("unhealthy"), restartLimit: 0 };
    assert.deepEqual(done({ ...sick, options: without, restarts: () => 99 }), ["restart web"]);
  });

  it("takes those along that live in the namespace of what comes back or is restarted", () => {
    const services = [
      service("web"),
      service("side", { follows: { web: "shares the network of web" } }),
      service("tail", { follows: { side: "shares the process ids of side" } }),
      service("next", { follows: { web: "is restarted with web" } }),
    ];
    const others = ["side", "tail", "next"].map((name) => container(name));
    const seen = (fields: Partial<ObservedContainer>) => ({
      containers: [container("web", fields), ...others],
    });
    const sick = { services, observed: seen(SICK), heard: heard("unhealthy") };
    assert.deepEqual(done(sick), ["restart web", "restart side!", "restart tail!"]);
    const dead = { services, observed: seen(DEAD), options: options("die"), heard: heard("die") };
    assert.deepEqual(done(dead).slice(0, 2), ["start web", "recreate side"]);
  });

  it("leaves what is unhealthy until the engine says so, unless everything is looked at", () => {
    assert.deepEqual(done({ observed: web(SICK), heard: heard("die") }), []);
    assert.deepEqual(done({ observed: web(SICK), heard: new Map() }), []);
    assert.deepEqual(done({ observed: web(SICK), heard: undefined }), ["restart web"]);
  });

  it("mends what was changed by hand, where that is asked for", () => {
    const changed = (name: string, field: string): Drift => ({
      ...{ service: name, container: { id: `${name}-id`, name: `stack-${name}-1` } },
      ...{ field, wanted: "1", found: "2" },
    });
    const cases:
      readonly (readonly [Drift[], ReconciliationInput["observed"] | undefined, string[]])[] = [
        [[changed("web", "mem_limit")], undefined, ["recreate web"]],
        [[changed("web", "network shop_default")], undefined, ["recreate web"]],
        [[changed("web", "state")], web(DEAD), ["start web"]],
        [[changed("web", "state"), changed("web", "restart")], web(DEAD), ["recreate web"]],
        [[{ service: "web", field: "containers", wanted: "1", found: "0" }], GONE, ["create web"]],
        [[changed("extra", "service")], undefined, ["remove extra"]],
        [[], undefined, []],
      ];
    for (const [drift, observed, expected] of cases) {
      assert.deepEqual(done({ drift, ...(observed === undefined ? {} : { observed }) }), expected);
    }
  });
});
