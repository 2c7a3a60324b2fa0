import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mendContainers } from "../../../../src/deploy/compose/act_on_services.ts";
import { errors } from "../../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";
import { releaseOf, serviceOf } from "../releases.ts";

describe("mendContainers()", () => {
  it("goes on where a name is somebody else's by now, and returns what the engine said", async () => {
    const aside = runningContainer("shop", "web", {
      ...{ id: "0123456789abcdef", name: "0123456789ab_shop-web-1" },
    });
    const engine = createMemoryEngine([aside, runningContainer("shop", "db", { state: "paused" })]);
    const refusal = errors.engine_refused("409");
    engine.renameContainer = () => Promise.reject(refusal);
    const release = releaseOf("1", [serviceOf("web"), serviceOf("db")]);
    const { signal } = new AbortController();
    assert.equal(await mendContainers(engine, release, ["web", "db"], signal), refusal);
    assert.deepEqual(engine.calls, ["unpause db-id"]);
  });
});
