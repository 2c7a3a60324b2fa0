import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Projects } from "../../../src/deploy/mod.ts";
import { COMPOSE_LABELS, errors, stackKey } from "../../../src/model/mod.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { lockParts } from "../../fakes/lock_parts.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { releaseOf } from "../record/releases.ts";

type Parts = ConstructorParameters<typeof Projects>[0];

function projectsWith(
  files: Readonly<Record<string, string>>,
  parts: Partial<Parts> = {},
  engine = createMemoryEngine(containersWith(files)),
): Projects {
  return new Projects({
    requireNotOurs: () => Promise.resolve(),
    isStack: () => false,
    watchMs: 2000,
    engine: () => Promise.resolve(engine),
    ...lockParts(createFakeClock()),
    destroyRecorded: () => Promise.resolve(undefined),
    hold: () => undefined,
    started: () => {},
    recreateRecorded: () => Promise.resolve("done"),
    keptImages: () => Promise.resolve(new Set()),
    keptNames: () => Promise.resolve(() => undefined),
    ...parts,
  });
}

function containersWith(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([service, written]) => {
    const container = runningContainer("shop", service);
    return { ...container, labels: { ...container.labels, [COMPOSE_LABELS.configFiles]: written } };
  });
}

const PORT_TAKEN =
  "engine refused POST /containers/db-id/start: 500 Bind for 127.0.0.1:80 failed: " +
  "port is already allocated";

describe("Projects.list()", () => {
  it("names every compose file that a container of the project names, once", async () => {
    const projects = projectsWith({
      web: "/srv/compose.yaml",
      worker: "/srv/compose.yaml,/srv/more.yaml",
      piped: "-",
    });
    const found = await projects.list(
      { all: true, context: "default" },
      new AbortController().signal,
    );
    assert.deepEqual(found.map(({ configFiles }) => configFiles), [
      "/srv/compose.yaml,/srv/more.yaml",
    ]);
  });
});

describe("Projects.control()", () => {
  const never = new AbortController().signal;
  const control = (action: "start" | "stop") => ({ action, timeoutSeconds: 5 });

  it("records nothing of what the end of the process refuses", async () => {
    const recorded: string[] = [];
    const projects = projectsWith({ web: "" }, {
      change: () => Promise.reject(errors.shutting_down("application is shutting down")),
      hold: (_key, action) => (recorded.push(action), []),
      started: () => recorded.push("started"),
    });
    for (const action of ["stop", "start"] as const) {
      const asked = projects.control(stackKey("", "shop"), control(action), never);
      await assert.rejects(asked, { code: "shutting_down" });
    }
    assert.deepEqual(recorded, []);
  });

  it("keeps a volume that another stack's release defines when it removes a project without a release", async () => {
    const engine = createMemoryEngine([runningContainer("shop", "web")]);
    const labels = { [COMPOSE_LABELS.project]: "shop" };
    engine.volumes = ["shop_own", "shop_theirs"].map((name) => ({
      ...{ id: name, name, driver: "local", labels },
    }));
    const keptNames = () =>
      Promise.resolve(({ name }: { readonly name: string }) =>
        name === "shop_theirs" ? "stack new defines it" : undefined
      );
    const what = { removeVolumes: true, removeImages: false, timeoutSeconds: 30 };
    const data = await projectsWith({}, { keptNames }, engine)
      .remove(stackKey("", "shop"), what, never);
    assert.deepEqual(data.deleted, ["volume shop_own"]);
    assert.deepEqual(data.kept, ["volume shop_theirs: stack new defines it"]);
  });

  it("lifts the hold of a stopped stack once all of it was started, and not after half of it", async () => {
    const down = ["db", "web"].map((service) =>
      runningContainer("shop", service, { state: "exited" })
    );
    const engine = createMemoryEngine(down);
    const lifted: (readonly string[])[] = [];
    const parts = { hold: () => [], started: () => void lifted.push([...engine.calls]) };
    const projects = projectsWith({}, parts, engine);
    engine.onCall = (call) => {
      if (call === "start web-id") throw new Error("the engine ends");
    };
    const start = () => projects.control(stackKey("", "shop"), control("start"), never);
    await assert.rejects(start(), /the engine ends/);
    assert.deepEqual([lifted, engine.calls], [[], ["start db-id"]]);
    engine.onCall = () => {};
    // Also where it does not become healthy: then all that ran is started, and what is missing comes back.
    await assert.rejects(start(), { code: "unhealthy" });
    assert.equal(lifted.length, 1);
    assert.ok(lifted[0]?.includes("start web-id"));
  });

  for (const action of ["start", "restart"] as const) {
    it(`lifts it also where the engine refuses to ${action} one container, and starts the others`, async () => {
      const down = ["db", "web"].map((service) =>
        runningContainer("shop", service, { state: "exited" })
      );
      const engine = createMemoryEngine(down);
      const lifted: (readonly string[])[] = [];
      const parts = { hold: () => [], started: () => void lifted.push([...engine.calls]) };
      engine.onCall = (call) => {
        if (call === `${action} db-id`) throw errors.engine_refused(PORT_TAKEN);
      };
      const asked = { action, timeoutSeconds: 5 };
      const told =
        "container shop-db-1 did not start: port 127.0.0.1:80 of the host is taken by .*port";
      const ours = projectsWith({}, parts, engine).control(stackKey("", "shop"), asked, never);
      await assert.rejects(ours, {
        code: "engine_refused",
        message: new RegExp(`^${told}; whatever else shop has was started, and it is not stopped`),
      });
      assert.deepEqual(lifted, [[`${action} web-id`]]);
      const others = projectsWith({}, { ...parts, hold: () => undefined }, engine);
      await assert.rejects(others.control(stackKey("", "shop"), asked, never), {
        message: new RegExp(`^${told}$`),
      });
      assert.equal(lifted.length, 1);
    });
  }

  it("looks anew where another process changes the stack when a stop is recorded", async () => {
    const asked: string[] = [];
    const projects = projectsWith({ web: "" }, {
      othersDone: () => Promise.resolve(void asked.push("others done")),
      hold: () => asked.push("hold") < 3 ? "moved" : [],
    });
    await projects.control(stackKey("", "shop"), control("stop"), never);
    assert.deepEqual(asked, ["others done", "hold", "others done", "hold"]);
  });

  it("begins with what runs by then where the stack was changed since that was looked at", async () => {
    const engine = createMemoryEngine(containersWith({ web: "" }));
    const ledger = createMemoryLedger(createFakeClock());
    const key = stackKey("", "shop");
    let looks = 0;
    engine.onList = () => {
      if (looks++ > 0) return;
      // As a command beside the service deploys it, which replaces the container.
      ledger.succeed(ledger.beginDeploy(releaseOf(key, "a".repeat(40))), {}, "done");
      queueMicrotask(() => engine.containers = [runningContainer("shop", "web", { id: "new" })]);
    };
    const projects = projectsWith({}, { ledger }, engine);
    await projects.control(key, control("stop"), never);
    assert.deepEqual(engine.calls, ["stop new"]);
  });
});
