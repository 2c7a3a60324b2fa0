import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mendNames } from "../../../../src/deploy/compose/act_on_services.ts";
import { errors } from "../../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";
import { releaseOf, serviceOf } from "../releases.ts";

describe("mendNames()", () => {
  it("goes on where a name is somebody else's by now, and returns what the engine said", async () => {
    const aside = runningContainer("shop", "web", {
      ...{ id: "0123456789abcdef", name: "0123456789ab_shop-web-1" },
    });
    const db = runningContainer("shop", "db", { name: "fedcba987654_shop-db-1" });
    const engine = createMemoryEngine([aside, { ...db, id: "fedcba9876543210" }]);
    const rename = engine.renameContainer;
    const refusal = errors.engine_refused("409");
    engine.renameContainer = (id, ...rest) =>
      id === aside.id ? Promise.reject(refusal) : rename(id, ...rest);
    const release = releaseOf("1", [serviceOf("web"), serviceOf("db")]);
    const { signal } = new AbortController();
    assert.equal(await mendNames(engine, release, ["web", "db"], signal), refusal);
    assert.deepEqual(engine.calls, ["rename fedcba9876543210 shop-db-1"]);
  });
});
