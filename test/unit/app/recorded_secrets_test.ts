import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { recordedSecrets } from "../../../src/app/recorded_secrets.ts";
import { formatStackKey, type StackKey, stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { longestStretch } from "../processor_time.ts";
import { CANARY, releaseOf } from "../record/releases.ts";

const SHOP = stackKey("", "shop");
const LARGE = stackKey("", "large");

/** Waits until something is done. */
async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A ledger with releases of SHOP, whose versions change when a test says so. */
function createWorld({ waits = false, now = (): number => 0 } = {}) {
  const ledger = createMemoryLedger(createFakeClock());
  let version = 1;
  let opened = 0;
  let fails = false;
  let isClosed = false;
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
    isClosed: () => isClosed,
    reopen: () => isClosed = false,
    hide(values, owner) {
      const own = [...values].filter((each) => each !== CANARY);
      hidden.push(...own.map((each) => `${owner}: ${each}`));
    },
  }, { waits, now });
  const record = (password: string, { works = true, key = SHOP } = {}) => {
    const model = { services: { web: { environment: { PASSWORD: password } } } };
    const intent = ledger.beginDeploy(releaseOf(key, password.padEnd(40, "0"), { model }));
    if (works) ledger.succeed(intent, {}, "done");
    else ledger.fail(intent, "failed", "no");
  };
  return {
    hidden,
    ask: recorded.ask,
    learned: recorded.learned,
    begin: () => recorded.begin(),
    end: () => recorded.end(),
    opened: () => opened,
    /** The stack has too many secrets by now. */
    close: () => isClosed = true,
    isClosed: () => isClosed,
    /** This process itself deploys a release. */
    recordOwn: (password: string) => record(password),
    /** Releases cannot be opened from now on. */
    fails: () => fails = true,
    /** Another process deploys a release of a stack with thousands of secrets. */
    recordLarge(key: StackKey, id: string, name = "h.example/o/r") {
      version++;
      const environment = Object.fromEntries(
        Array.from(
          { length: 5000 },
          (_, at) => [`P${at}_PASSWORD`, `x${randomUUID().replaceAll("-", "")}`],
        ),
      );
      const model = { services: { web: { environment } } };
      const release = releaseOf(key, id.padEnd(40, "0"), { model });
      const revision = { ...release.revision, source: { ...release.revision.source, name } };
      ledger.succeed(ledger.beginDeploy({ ...release, revision }), {}, "done");
    },
    /** Another process records a release whose only secret is `password`. */
    record(...given: Parameters<typeof record>) {
      version++;
      record(...given);
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

  it("begins anew with a stack that had too many, once it has other releases", () => {
    const { ask, close, hidden, isClosed, opened, record, recordOwn } = createWorld();
    record("first-one");
    ask(SHOP);
    close();
    for (let turn = 0; turn < 10; turn++) ask(SHOP);
    assert.equal(opened(), 1);
    assert.ok(isClosed());
    recordOwn("second-one");
    assert.equal(ask(SHOP), true);
    assert.ok(!isClosed());
    assert.equal(opened(), 3);
    assert.equal(hidden.filter((each) => each.includes("first-one")).length, 2);
    recordOwn("third-one");
    ask(SHOP);
    assert.equal(opened(), 3, "what this process records it has hidden already");
  });

  it("leaves a stack closed that had too many before it is looked at first", () => {
    const { ask, close, isClosed, record, recordOwn } = createWorld();
    record("first-one");
    close();
    assert.equal(ask(SHOP), true);
    assert.ok(isClosed(), "nobody knows what a plan has rendered");
    recordOwn("second-one");
    ask(SHOP);
    assert.ok(!isClosed());
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
    const longest = await longestStretch(() => until(() => ask(LARGE)));
    assert.equal(new Set(hidden).size, 15_001);
    assert.ok(longest < 500, `${longest} ms without a pause`);
    end();
  });

  it("begins with large ones before anybody asks, and ends", async () => {
    const world = createWorld();
    world.recordLarge(LARGE, "a");
    world.begin();
    await until(() => world.hidden.length >= 5000);
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
    const stacks = Array.from({ length: 300 }, (_, at) => stackKey("", `small${at}`));
    for (const each of stacks) record("small-one", { key: each });
    assert.equal(ask(stacks[0] ?? SHOP), true);
    const late = stacks.find((each) => !ask(each)) ?? SHOP;
    assert.equal(ask(late), false);
    await until(() => hidden.some((each) => each.includes(late.name)));
    assert.equal(ask(late), true);
  });

  it("tells of a stack with few at once, however slow the machine is", () => {
    let time = 0;
    const { ask, record } = createWorld({ now: () => time += 10_000 });
    for (const password of ["first-one", "second-one", "third-one"]) record(password);
    assert.equal(ask(SHOP), true);
  });

  it("lets a text wait until those of its stack are hidden", async () => {
    const { end, hidden, learned, recordLarge } = createWorld();
    const { signal } = new AbortController();
    for (const id of ["a", "b"]) recordLarge(LARGE, id);
    await Promise.all([learned(LARGE, signal), learned(LARGE, signal)]);
    assert.equal(new Set(hidden).size, 10_000);
    await learned(SHOP, signal);
    recordLarge(LARGE, "c");
    const gone = learned(LARGE, AbortSignal.abort(new Error("the client went away")));
    await assert.rejects(gone, /the client went away/);
    const ended = learned(LARGE, signal);
    end();
    await ended;
  });

  it("lets authors take turns: the many stacks of one do not delay another's", async () => {
    const { ask, end, hidden, learned, recordLarge } = createWorld();
    const evil = Array.from({ length: 4 }, (_, at) => stackKey("", `evil${at}`));
    for (const [at, each] of evil.entries()) recordLarge(each, `${at}`, "h.example/evil/app");
    for (const id of ["a", "b"]) recordLarge(LARGE, id, "h.example/good/app");
    for (const each of evil) ask(each);
    await learned(LARGE, new AbortController().signal);
    const others = hidden.filter((each) => each.includes("evil")).length;
    end();
    assert.ok(others <= 15_000, `${others} of another's texts came first`);
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
    await until(() => world.ask(LARGE));
    assert.deepEqual(world.hidden, []);
  });

  it("does nothing for a stack that nobody recorded", () => {
    const { ask, hidden } = createWorld();
    ask(stackKey("", "other"));
    assert.deepEqual(hidden, []);
  });
});
