import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { recordedSecrets } from "../../../src/app/recorded_secrets.ts";
import { formatStackKey, type StackKey, stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { CANARY, releaseOf } from "../record/releases.ts";

const SHOP = stackKey("", "shop");
const LARGE = stackKey("", "large");

/** Milliseconds of the longest go of the process until something is done. */
async function longestGo(isDone: () => boolean): Promise<number> {
  let longest = 0;
  for (let before = performance.now(); !isDone();) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
  }
  return longest;
}

/** A ledger with releases of SHOP, whose versions change when a test says so. */
function createWorld({ waits = false, now = (): number => 0 } = {}) {
  const ledger = createMemoryLedger(createFakeClock());
  let version = 1;
  let opened = 0;
  let fails = false;
  const hidden: string[] = [];
  const recorded = recordedSecrets({
    alive: (key) => ledger.alive(key),
    current: (key) => ledger.current(key),
    deployedStacks: () => ledger.deployedStacks(),
    owners: ledger.owners,
    foreignVersion: () => version,
    open: (recorded) => {
      opened++;
      if (fails) throw new Error("sealed with another key");
      return ledger.open(recorded);
    },
  }, {
    belongs: () => {},
    hide(values, owner) {
      const own = [...values].filter((each) => each !== CANARY);
      hidden.push(...own.map((each) => `${owner}: ${each}`));
    },
  }, { waits, now });
  return {
    hidden,
    ask: recorded.ask,
    begin: () => recorded.begin(),
    end: () => recorded.end(),
    opened: () => opened,
    /** Releases cannot be opened from now on. */
    fails: () => fails = true,
    /** Another process deploys a release of a stack with thousands of secrets. */
    recordLarge(key: StackKey, id: string) {
      version++;
      const environment = Object.fromEntries(
        Array.from(
          { length: 5000 },
          (_, at) => [`P${at}_PASSWORD`, `x${randomUUID().replaceAll("-", "")}`],
        ),
      );
      const model = { services: { web: { environment } } };
      ledger.succeed(ledger.beginDeploy(releaseOf(key, id.padEnd(40, "0"), { model })), {}, "done");
    },
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

  it("hides those of large releases in a task with pauses, and says so until then", async () => {
    const { ask, begin, end, hidden, recordLarge, record } = createWorld();
    for (const id of ["a", "b", "c"]) recordLarge(LARGE, id);
    record("small-one");
    assert.equal(ask(LARGE), false);
    assert.deepEqual(hidden, []);
    assert.equal(ask(SHOP), true);
    assert.equal(hidden.length, 1);
    begin();
    const longest = await longestGo(() => ask(LARGE));
    assert.equal(new Set(hidden).size, 15_001);

    assert.ok(longest < 500, `${longest} ms without a pause`);
    end();
  });

  it("begins with large ones before anybody asks, and ends", async () => {
    const world = createWorld();
    world.recordLarge(LARGE, "a");
    world.begin();
    await longestGo(() => world.hidden.length >= 5000);
    assert.equal(world.ask(LARGE), true);
    world.end();
    const ended = createWorld();
    ended.recordLarge(LARGE, "a");
    ended.ask(LARGE);
    ended.begin();
    ended.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(ended.opened(), 0);
  });

  it("goes on in the task where small ones take too long together", async () => {
    let time = 0;
    const { ask, hidden, record } = createWorld({ now: () => time += 60 });
    record("small-one");
    assert.equal(ask(SHOP), false);
    await longestGo(() => hidden.length > 0);
    assert.equal(ask(SHOP), true);
  });

  it("has a command wait for large ones", () => {
    const { ask, hidden, recordLarge } = createWorld({ waits: true });
    recordLarge(LARGE, "a");
    assert.equal(ask(LARGE), true);
    assert.equal(hidden.length, 5000);
  });

  it("is done with a large release that cannot be opened", async () => {
    const world = createWorld();
    world.recordLarge(LARGE, "a");
    world.fails();
    assert.equal(world.ask(LARGE), false);
    await longestGo(() => world.ask(LARGE));
    assert.deepEqual(world.hidden, []);
  });

  it("does nothing for a stack that nobody recorded", () => {
    const { ask, hidden } = createWorld();
    ask(stackKey("", "other"));
    assert.deepEqual(hidden, []);
  });
});
