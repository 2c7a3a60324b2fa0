import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineInfo } from "../../../src/docker/engine.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { managesServices } from "../../../src/pipeline/stack_mode.ts";

type Parts = Parameters<typeof managesServices>[0];
type Role = EngineInfo["swarm"];

/** Asks about a stack of an engine with a role, which the host may be told otherwise. */
function ask(role: Role, { swarm, told = role }: { swarm?: object; told?: Role } = {}) {
  const info = (swarm: Role) => () => Promise.resolve({ swarm });
  const host = { info: info(told), engine: { info: info(role) } } as unknown as Parts["host"];
  const key = stackKey("", "shop");
  return managesServices({ host }, { key, ...(swarm && { swarm }) }, new AbortController().signal);
}

describe("managesServices()", () => {
  it("looks at the engine itself for what is recorded as a stack of a swarm", async () => {
    assert.equal(await ask("manager", { swarm: {}, told: "inactive" }), true);
    assert.equal(await ask("inactive", { swarm: {} }), false);
    assert.equal(await ask("manager", { told: "inactive" }), false);
    assert.equal(await ask("worker"), false);
  });

  for (const role of ["worker", "other"] as const) {
    it(`does not take services for gone whose engine is "${role}"`, async () => {
      await assert.rejects(ask(role, { swarm: {} }), {
        code: "conflict",
        message: /shop is a stack of a swarm which its engine cannot manage now/,
      });
    });
  }
});
