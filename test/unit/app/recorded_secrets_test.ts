import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recordedSecrets } from "../../../src/app/recorded_secrets.ts";
import { formatStackKey, stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { CANARY, releaseOf } from "../record/releases.ts";

const SHOP = stackKey("", "shop");

/** A ledger with releases of SHOP, whose versions change when a test says so. */
function createWorld() {
  const ledger = createMemoryLedger(createFakeClock());
  let version = 1;
  let opened = 0;
  const hidden: string[] = [];
  const ask = recordedSecrets({
    alive: (key) => ledger.alive(key),
    current: (key) => ledger.current(key),
    owners: ledger.owners,
    foreignVersion: () => version,
    open: (recorded) => {
      opened++;
      return ledger.open(recorded);
    },
  }, {
    belongs: () => {},
    hide(values, owner) {
      const own = [...values].filter((each) => each !== CANARY);
      hidden.push(...own.map((each) => `${owner}: ${each}`));
    },
  });
  return {
    hidden,
    ask,
    opened: () => opened,
    /** Another process records a release whose only secret is `password`. */
    record(password: string, { works = true } = {}) {
      version++;
      const model = { services: { web: { environment: { PASSWORD: password } } } };
      const intent = ledger.beginDeploy(releaseOf(SHOP, password.padEnd(40, "0"), { model }));
      if (works) ledger.succeed(intent, {}, "done");
      else ledger.fail(intent, "failed", "no");
    },
  };
}

describe("recordedSecrets()", () => {
  it("hides those of the current release and of the newest ones, each once", () => {
    const { ask, hidden, opened, record } = createWorld();
    record("current-one");
    for (const name of ["failed-a", "failed-b", "failed-c", "failed-d"]) {
      record(name, { works: false });
    }
    ask(SHOP);
    const owner = `stack ${formatStackKey(SHOP)}`;
    const expected = ["current-one", "failed-b", "failed-c", "failed-d"];
    assert.deepEqual(hidden.toSorted(), expected.map((each) => `${owner}: ${each}`));
    for (let turn = 0; turn < 10; turn++) ask(SHOP);
    assert.equal(opened(), 4);
  });

  it("hides those of a release that another process records later", () => {
    const { ask, hidden, opened, record } = createWorld();
    record("first-one");
    ask(SHOP);
    record("second-one");
    ask(SHOP);
    assert.match(hidden.join(), /second-one/);
    assert.equal(opened(), 2);
  });

  it("does nothing for a stack that nobody recorded", () => {
    const { ask, hidden } = createWorld();
    ask(stackKey("", "other"));
    assert.deepEqual(hidden, []);
  });
});
