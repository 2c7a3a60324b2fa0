import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createStackOf } from "../../../src/app/stack_of_service.ts";
import type { Ledger } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger, SHOP } from "../../fakes/memory_ledger.ts";
import { serviceOf } from "../plan/values.ts";
import { releaseOf } from "../record/releases.ts";

describe("createStackOf()", () => {
  const deployed = (names: readonly string[], ledger: Ledger) => {
    const services = names.map((name) => serviceOf(name));
    const release = { ...releaseOf(SHOP, "a".repeat(40), { services }), swarm: {} };
    ledger.succeed(ledger.beginDeploy(release as Parameters<Ledger["beginDeploy"]>[0]), {}, "done");
  };

  it("tells the stack of a service, and of one that a later release adds", () => {
    const ledger = createMemoryLedger(createFakeClock());
    deployed(["web", "a_b"], ledger);
    const stackOf = createStackOf(ledger, SHOP.context);
    const asked = ["web", "a_b", "db", ""].map((each) => stackOf(`${SHOP.name}_${each}`));
    assert.deepEqual(asked, [SHOP.name, SHOP.name, undefined, undefined]);
    assert.equal(stackOf(SHOP.name), undefined);
    deployed(["db"], ledger);
    assert.equal(stackOf(`${SHOP.name}_db`), SHOP.name);
    assert.equal(stackOf(`${SHOP.name}_web`), undefined);
  });

  it("reads the services of a release once, however many events there are", () => {
    const ledger = createMemoryLedger(createFakeClock());
    deployed(["web"], ledger);
    let reads = 0;
    const stackOf = createStackOf({
      current: (key) => ledger.current(key),
      services: (release) => (reads++, ledger.services(release)),
    }, SHOP.context);
    for (let event = 0; event < 100; event++) {
      stackOf(`${SHOP.name}_web`);
      stackOf(`${SHOP.name}_none`);
    }
    assert.equal(reads, 1);
  });
});
