import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  remadeBy,
  removeNetworks,
  requireNoStrangers,
  withNewNetworks,
} from "../../../src/deploy/mod.ts";
import type { ApplyStep } from "../../../src/deploy/apply_steps.ts";
import { isStackwrightError, type ServiceAction } from "../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { ALWAYS, releaseOf, serviceOf } from "./releases.ts";

const INNER = { key: "inner", name: "shop_inner", id: "n1", changed: ["internal"] };
const ACTIONS: Readonly<Record<string, ServiceAction>> = {
  app: "keep",
  db: "start",
  ended: "scale",
  fresh: "create",
  other: "keep",
  sharer: "keep",
};
const PLANS = Object.entries(ACTIONS).map(([name, action]) => ({ name, action, because: ["so"] }));
const RELEASE = releaseOf("1", [
  serviceOf("app", { dependsOn: ["db"] }),
  serviceOf("db"),
  serviceOf("ended", { expectation: { ...ALWAYS, replicas: 0 } }),
  serviceOf("fresh"),
  serviceOf("other"),
  serviceOf("sharer", { follows: { app: "shares the network of app" } }),
], {
  model: {
    name: "shop",
    services: {
      ...Object.fromEntries(["app", "db", "ended", "fresh"].map((name) => [name, {
        networks: { inner: null },
      }])),
      other: { networks: { outer: null } },
      sharer: { network_mode: "service:app" },
    },
  },
});
const connected = (service: string, project = "shop") =>
  runningContainer(project, service, { networkIds: ["n1", "n2"] });
const SIGNAL = new AbortController().signal;

function newPlans() {
  return withNewNetworks(PLANS, [INNER], { release: RELEASE, observed: { containers: [] } });
}

describe("withNewNetworks()", () => {
  it("replaces those that use the network, and who shares something with them", () => {
    assert.deepEqual(Object.fromEntries(newPlans().map(({ name, action }) => [name, action])), {
      ...ACTIONS,
      app: "recreate",
      db: "recreate",
      sharer: "recreate",
    });
    assert.match(String(newPlans()[0]?.because), /shop_inner is made anew, with another internal/);
  });

  it("replaces nobody for a network called like what every object has", () => {
    const odd = { ...INNER, key: "constructor" };
    const context = { release: RELEASE, observed: { containers: [] } };
    assert.deepEqual(withNewNetworks(PLANS, [odd], context), PLANS);
  });

  it("leaves all as it is where no network changes", () => {
    const context = { release: RELEASE, observed: { containers: [] } };
    assert.deepEqual(withNewNetworks(PLANS, [], context), PLANS);
  });
});

describe("requireNoStrangers()", () => {
  const check = (...containers: ReturnType<typeof connected>[]) =>
    requireNoStrangers([INNER], containers, { release: RELEASE, services: newPlans() });

  it("does not mind what is replaced or ends, and what is in other networks", () => {
    const elsewhere = runningContainer("proxy", "web", { networkIds: ["n2"] });
    check(connected("app"), connected("ended"), elsewhere);
  });

  it("refuses while others are connected, stopped ones as well, by name", () => {
    const stopped = { ...connected("web", "proxy"), state: "exited" as const };
    assert.throws(() => check(connected("app"), connected("old"), stopped), (error) => {
      assert.ok(isStackwrightError(error, "conflict"));
      assert.match(
        error.message,
        /^networks.inner: network shop_inner exists with another internal/,
      );
      assert.match(error.message, /while proxy-web-1, shop-old-1 are connected to it, so nothing/);
      return true;
    });
  });
});

describe("requireNoStrangers(), of what runs once", () => {
  const once = { "com.docker.compose.oneoff": "True" };
  const labels = { ...connected("app").labels, ...once };
  const dump = { ...connected("app"), id: "dump", name: "shop-dump", labels };
  const check = (run: typeof dump) =>
    requireNoStrangers([INNER], [connected("app"), run], {
      release: RELEASE,
      services: newPlans(),
    });

  it("refuses while it runs, by name, also with the service of a job", () => {
    const job = { ...dump, labels: { ...labels, "stackwright.manager": "stackwright" } };
    for (const run of [dump, job, { ...dump, state: "paused" as const }]) {
      assert.throws(
        () => check(run),
        /while shop-dump is connected to it \(.* has ended\), so nothing/,
      );
    }
  });

  it("does not mind what has ended", () => check({ ...dump, state: "exited" as const }));
});

describe("remadeBy()", () => {
  const up = (...names: string[]): ApplyStep => ({
    kind: "up",
    mode: "replace",
    scale: Object.fromEntries(names.map((each) => [each, 1])),
    noStart: false,
  });

  it("is the first step with a service in the network, none where nobody is in it", () => {
    const [stop, other, app, db] = [
      { kind: "stop", services: ["app"] } as const,
      up("other"),
      up("sharer", "app"),
      up("db"),
    ];
    const nobodys = { ...INNER, key: "constructor" };
    const found = remadeBy([INNER, nobodys], [stop, other, app, db], RELEASE.model);
    assert.deepEqual([...found], [[app, [INNER]], [undefined, [nobodys]]]);
  });
});

describe("removeNetworks()", () => {
  it("stops what is connected, who depends on others first, and removes the network", async () => {
    const ended = { ...connected("ended"), state: "exited" as const };
    const engine = createMemoryEngine([connected("db"), connected("app"), ended]);
    const told: string[] = [];
    const onStop = (ids: readonly string[]) => void told.push(...ids);
    const context = { release: RELEASE, services: newPlans(), onStop };
    await removeNetworks(engine, [INNER], context, SIGNAL);
    assert.deepEqual(engine.calls, ["stop app-id", "stop db-id", "remove network n1"]);
    assert.deepEqual(told, ["app-id", "db-id"]);
  });

  it("touches nothing when a stranger came in between", async () => {
    const engine = createMemoryEngine([connected("app"), connected("web", "proxy")]);
    const context = { release: RELEASE, services: newPlans(), onStop: () => {} };
    await assert.rejects(removeNetworks(engine, [INNER], context, SIGNAL), /web-1 is connected/);
    assert.deepEqual(engine.calls, []);
  });
});
