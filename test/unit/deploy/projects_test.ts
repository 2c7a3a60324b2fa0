import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Projects } from "../../../src/deploy/mod.ts";
import { COMPOSE_LABELS } from "../../../src/model/mod.ts";
import { createKeyedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";

function projectsWith(files: Readonly<Record<string, string>>): Projects {
  const containers = Object.entries(files).map(([service, written]) => {
    const container = runningContainer("shop", service);
    return { ...container, labels: { ...container.labels, [COMPOSE_LABELS.configFiles]: written } };
  });
  const engine = createMemoryEngine(containers);
  return new Projects({
    requireNotOurs: () => Promise.resolve(),
    isStack: () => false,
    watchMs: 2000,
    engine: () => Promise.resolve(engine),
    clock: createFakeClock(),
    stackLock: createKeyedLock(),
    othersDone: () => Promise.resolve(),
    change: (work) => work(new AbortController().signal),
    destroyRecorded: () => Promise.resolve(undefined),
    told: (_key, _action, work, signal) => work(signal),
    hold: () => undefined,
    recreateRecorded: () => Promise.resolve(),
    keptImages: () => Promise.resolve(new Set()),
  });
}

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
