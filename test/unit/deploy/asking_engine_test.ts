import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { askingEngine } from "../../../src/deploy/asking_engine.ts";
import { createEngine, type Engine } from "../../../src/docker/mod.ts";

/** Calls that only read, and one that completes what another began; any other must ask. */
const READING = [
  "apiVersion",
  "close",
  "connectNetwork",
  "containerEvents",
  "containerLogs",
  "containerMounts",
  "containerRecipe",
  "describeContainers",
  "distribution",
  "everyContainer",
  "everyService",
  "everyVolume",
  "fileHas",
  "findNetworks",
  "findVolumes",
  "imageContent",
  "imageDefaults",
  "imageId",
  "imageLabels",
  "imageListed",
  "imageVolumes",
  "imagesInUse",
  "info",
  "inspectContainer",
  "listContainers",
  "listImages",
  "listNetworks",
  "listVolumes",
  "namedObjects",
  "namedServices",
  "networks",
  "objects",
  "programVariables",
  "service",
  "serviceLogs",
  "services",
  "tasks",
  "tasksOf",
  "waitContainer",
];

type Calls = Record<string, (...args: unknown[]) => unknown>;

/** The methods of an object, each of which notes that it was called. */
function noting(of: object, note: (name: string) => void): Calls {
  const names = Object.entries(of).filter(([, each]) => typeof each === "function");
  return Object.fromEntries(names.map(([name]) => [name, () => note(name)]));
}

describe("an engine that asks", () => {
  const real = createEngine({ host: "unix:///nowhere.sock" });
  const called: string[] = [];
  const note = (name: string) => void called.push(name);
  const engine = {
    ...noting(real, note),
    swarm: noting(real.swarm, note),
  } as unknown as Engine;
  const handedOver = new Error("handed over");
  const refusing = askingEngine(engine, () => {
    throw handedOver;
  });
  const all = { ...refusing.swarm, ...refusing } as unknown as Calls;
  const names = Object.keys(all).filter((name) => name !== "swarm").sort();

  it("does so before every call that changes something, which is not made then", async () => {
    called.length = 0;
    const asked: string[] = [];
    for (const name of names) {
      try {
        await all[name]?.();
      } catch (error) {
        assert.equal(error, handedOver);
        asked.push(name);
      }
    }
    assert.deepEqual(names.filter((name) => !asked.includes(name)), READING);
    assert.deepEqual(called.filter((name) => asked.includes(name)), []);
  });

  it("is the same one where nobody asks, and passes calls on where the answer is yes", async () => {
    assert.equal(askingEngine(engine, undefined), engine);
    called.length = 0;
    await askingEngine(engine, () => {}).swarm.removeService("id", AbortSignal.abort());
    assert.deepEqual(called, ["removeService"]);
  });
});
