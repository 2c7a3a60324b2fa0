import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keptDependents, KeptWatch } from "../../../src/deploy/mod.ts";
import type { ContainerDetails } from "../../../src/docker/engine.ts";
import type { ObservedContainer } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
import { serviceOf } from "./releases.ts";

const SERVICES = [
  serviceOf("api", { dependsOn: ["db"] }),
  serviceOf("db"),
  serviceOf("other"),
  serviceOf("web", { dependsOn: ["api"] }),
];

function running(...names: string[]): ObservedContainer[] {
  return names.map((name) => runningContainer("shop", name));
}

describe("keptDependents()", () => {
  const dependents = (changed: string[], containers = running("api", "db", "other", "web")) =>
    Object.fromEntries(keptDependents(new Set(changed), SERVICES, { containers }));

  it("finds who depends on what is changed, however long the chain, and says on what", () => {
    assert.deepEqual(dependents(["db"]), { api: "db", web: "api" });
  });

  it("leaves out what is changed itself, and what nobody changed", () => {
    assert.deepEqual(dependents(["db", "api"]), { web: "api" });
    assert.deepEqual(dependents(["web", "other"]), {});
  });

  it("leaves out what did not work before", () => {
    const containers = [
      ...running("db", "web"),
      runningContainer("shop", "api", { health: "unhealthy" }),
    ];
    assert.deepEqual(dependents(["db"], containers), { web: "api" });
  });
});

/** A container at a moment; times are seconds. */
function details(
  name: string,
  { check, passed = true, startedAt = 0, ...fields }: Partial<ObservedContainer> & {
    readonly check?: number;
    readonly passed?: boolean;
    readonly startedAt?: number;
  } = {},
): ContainerDetails {
  return {
    container: runningContainer("shop", name, fields),
    startedAt: new Date(startedAt * 1000),
    restartCount: 0,
    stopTimeoutSeconds: 10,
    error: "",
    healthOutput: "",
    ...(check === undefined ? {} : { lastCheck: { beganAt: new Date(check * 1000), passed } }),
    mounts: [],
  };
}

describe("KeptWatch", () => {
  const services = SERVICES.filter(({ name }) => name === "db" || name === "api");
  const db = details("db", { startedAt: 10 });
  const watch = () => {
    const kept = new KeptWatch(new Map([["api", "db"]]));
    return (second: number, ...containers: ContainerDetails[]) =>
      kept.look(services, containers, { nowMs: second * 1000, endMs: 100_000 });
  };
  const kindAt = (...asked: Parameters<ReturnType<typeof watch>>) => watch()(...asked).now.kind;

  it("takes a service without a health check as it is", () => {
    assert.equal(kindAt(11, db, details("api")), "ready");
    assert.equal(kindAt(11, db, details("api", { state: "exited", exitCode: 1 })), "failed");
  });

  it("minds nothing, and counts no restart, while what it needs is not ready", () => {
    const look = watch();
    const starting = details("db", { startedAt: 10, health: "starting" });
    const { now, counted } = look(11, starting, details("api", { state: "exited", exitCode: 1 }));
    assert.equal(now.kind, "waiting");
    assert.deepEqual(counted.map((each) => each.container.service), ["db"]);
    assert.equal(look(12, db, details("api")).counted.length, 2);
  });

  it("waits for a health check that began after what it needs was started, and passed", () => {
    const look = watch();
    const api = (check: number, passed = true) =>
      details("api", { health: "healthy", check, passed });
    assert.equal(look(11, db, api(9)).now.kind, "waiting");
    assert.equal(look(12, db, api(11, false)).now.kind, "waiting");
    assert.equal(look(13, db, api(12)).now.kind, "ready");
  });

  it("waits for the next health check half a minute, and not past the end", () => {
    const look = watch();
    const api = details("api", { health: "healthy", check: 9 });
    assert.equal(look(11, db, api).now.kind, "waiting");
    assert.equal(look(40, db, api).now.kind, "waiting");
    assert.equal(look(41, db, api).now.kind, "ready");
    assert.equal(kindAt(100, db, api), "ready");
  });

  it("fails it when it is unhealthy by a check that began after what it needs was ready", () => {
    const look = watch();
    const api = (check: number) => details("api", { health: "unhealthy", check, passed: false });
    assert.equal(look(11, db, api(10.5)).now.kind, "waiting");
    assert.equal(look(12, db, api(11.5)).now.kind, "failed");
  });
});
