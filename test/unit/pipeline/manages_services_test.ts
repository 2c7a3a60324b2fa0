import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineInfo } from "../../../src/docker/engine.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { managesServices } from "../../../src/pipeline/decide/manages_services.ts";

type Parts = Parameters<typeof managesServices>[0];
type Role = EngineInfo["swarm"];

/** Asks about a stack of an engine with a role, which the host may be told otherwise. */
function ask(
  role: Role,
  { recorded, told = role }: { recorded?: { swarm?: object }; told?: Role } = {},
) {
  const info = (swarm: Role) => () => Promise.resolve({ swarm });
  const host = { info: info(told), engine: { info: info(role) } } as unknown as Parts["host"];
  const key = stackKey("", "shop");
  return managesServices({ host }, key, recorded, new AbortController().signal);
}

describe("managesServices()", () => {
  it("looks at the engine itself for a stack of a swarm, and where nothing is recorded", async () => {
    const told = "inactive";
    assert.equal(await ask("manager", { recorded: { swarm: {} }, told }), true);
    assert.equal(await ask("inactive", { recorded: { swarm: {} } }), false);
    assert.equal(await ask("manager", { told }), true);
    assert.equal(await ask("manager", { recorded: {}, told }), false);
    assert.equal(await ask("worker"), false);
  });

  for (const role of ["worker", "other"] as const) {
    it(`does not take services for gone whose engine is "${role}"`, async () => {
      await assert.rejects(ask(role, { recorded: { swarm: {} } }), {
        code: "engine_refused",
        message: /shop is a stack of a swarm which its engine cannot manage now/,
      });
    });
  }
});
