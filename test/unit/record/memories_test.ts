import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { stackKey, type TargetDecision } from "../../../src/model/mod.ts";
import { DECISIONS_PER_STACK, InstanceKey, Ledger } from "../../../src/record/mod.ts";
import { createIds } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { releaseOf } from "./releases.ts";

const WEB = stackKey("", "web");
const THERE = stackKey("prod", "web");
const at = (minute: number) => new Date(Date.UTC(2026, 2, 10, 12, minute));

function withLedger(work: (ledger: Ledger) => void): () => Promise<void> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-memories-"));
    const clock = createFakeClock();
    const key = new InstanceKey(new Uint8Array(32));
    const ledger = new Ledger(join(directory, "state.db"), {
      key,
      clock,
      ids: createIds(clock),
      redact: String,
    });
    try {
      work(ledger);
    } finally {
      ledger.close();
      await rm(directory, { recursive: true, force: true });
    }
  };
}

function decision(message: string): TargetDecision {
  return {
    trigger: "poll",
    origin: "automatic",
    revision: "refs/heads/main (a1)",
    kind: "skip",
    reason: "no_changes",
    message,
    changes: [{ input: "a", from: "1", to: "2" }],
    services: [{ name: "web", action: "keep", because: ["nothing changed"] }],
  };
}

describe("DeferredDeployments", () => {
  const asked = (source: string, reference = "") => ({
    request: { kind: "git", url: source, reference: "main", target: "", deployments: [] },
    trigger: "poll",
    asker: { source, reference },
  } as const);

  it(
    "keep those of each repository and branch, until the stack has an owner",
    withLedger((ledger) => {
      const { deferred } = ledger;
      const left = () =>
        deferred.all().map(({ key: { context }, asker: { source, reference }, asked }) =>
          `${context} ${source}${reference} ${asked}`
        );
      deferred.set(WEB, { ...asked("a"), retryAt: at(2) });
      deferred.set(WEB, { ...asked("b"), retryAt: at(1) });
      deferred.set(THERE, asked("a"));
      assert.deepEqual(deferred.get(WEB), { retryAt: at(1) });
      const taken = deferred.take(at(1), (before) => at(3 + before));
      assert.deepEqual(taken, [{ trigger: "poll", request: asked("b").request }]);
      assert.deepEqual(left().sort(), ["default a 0", "default b 1", "prod a 0"]);
      assert.deepEqual(deferred.next(), at(2));

      deferred.remove(WEB, ({ source }) => source === "c");
      deferred.keepOnly(asked("b").request, [THERE]);
      assert.deepEqual(left().sort(), ["default a 0", "prod a 0"]);
      deferred.set(WEB, asked("b"));
      for (const branch of ["/x", "/y"]) deferred.set(WEB, asked("b", branch));
      deferred.set(WEB, { ...asked("b", "/x"), retryAt: at(1) });
      assert.equal(deferred.take(at(1), () => at(4)).length, 1);
      assert.deepEqual(left().sort(), [
        "default a 0",
        "default b 0",
        "default b/x 1",
        "default b/y 0",
        "prod a 0",
      ]);
      ledger.handOver(WEB, { source: "b", reference: "/x" });
      assert.deepEqual(left().sort(), ["default b 0", "default b/x 1", "prod a 0"]);
      deferred.remove(WEB, ({ reference }) => reference !== "");
      ledger.handOver(WEB, { source: "b", reference: "" });
      assert.deepEqual(left().sort(), ["default b 0", "prod a 0"]);
      deferred.remove(WEB);
      assert.deepEqual(left(), ["prod a 0"]);
    }),
  );
});

describe("FailureMemory", () => {
  const failure = { release: "r1", source: "a/b/c", message: "no", automatic: true };

  it(
    "fail() counts automatic failures of one release and keeps the last message and time",
    withLedger(({ failures }) => {
      assert.equal(failures.get(WEB), undefined);
      failures.fail(WEB, { ...failure, at: at(1) });
      failures.countAttempt(WEB);
      failures.fail(WEB, { ...failure, at: at(2), message: "still no" });
      assert.deepEqual(failures.get(WEB), {
        release: "r1",
        failures: 2,
        automaticAttempts: 1,
        lastFailedAt: at(2),
        byHand: 0,
        message: "still no",
      });
    }),
  );

  it(
    "fail() by hand is counted by itself, and moves neither other counters nor the time of the delay of a release that is known to fail",
    withLedger(({ failures }) => {
      failures.fail(WEB, { ...failure, at: at(1) });
      failures.countAttempt(WEB);
      const before = failures.get(WEB);
      failures.fail(WEB, { ...failure, at: at(2), message: "not now", automatic: false });
      const byHand = { byHand: 1, byHandAt: at(2) };
      assert.deepEqual(failures.get(WEB), { ...before, ...byHand, message: "not now" });
      failures.fail(WEB, { ...failure, at: at(3) });
      assert.equal(failures.get(WEB)?.byHandAt, undefined);
    }),
  );

  for (const automatic of [true, false]) {
    it(
      `fail() starts to count anew with another release (automatic: ${automatic})`,
      withLedger(({ failures }) => {
        failures.fail(WEB, { ...failure, at: at(1) });
        failures.countAttempt(WEB);
        failures.fail(WEB, { ...failure, release: "r2", at: at(2), automatic });
        const { release, failures: count, automaticAttempts } = failures.get(WEB) ?? assert.fail();
        assert.deepEqual([release, count, automaticAttempts], ["r2", 1, 0]);
      }),
    );
  }

  it(
    "get() and fail() tell the failures of one source from those of another",
    withLedger(({ failures }) => {
      failures.fail(WEB, { ...failure, at: at(1) });
      failures.countAttempt(WEB);
      assert.equal(failures.get(WEB, failure.source)?.automaticAttempts, 1);
      assert.equal(failures.get(WEB, "d/e/f"), undefined);
      failures.fail(WEB, { ...failure, source: "d/e/f", at: at(2) });
      assert.equal(failures.get(WEB, failure.source), undefined);
      assert.equal(failures.get(WEB, "d/e/f")?.automaticAttempts, 0);
    }),
  );

  it(
    "clear() forgets one stack and no other; a very long message is cut",
    withLedger(({ failures }) => {
      failures.fail(WEB, { ...failure, at: at(1) });
      failures.fail(THERE, { ...failure, at: at(1), message: "x".repeat(100_000) });
      failures.clear(WEB);
      failures.clear(WEB);
      failures.countAttempt(WEB);
      assert.equal(failures.get(WEB), undefined);
      assert.equal(failures.get(THERE)?.message.length, 2000);
    }),
  );
});

describe("DecisionLog", () => {
  it(
    "end() makes a decision the last word, over what others decided while it was carried out",
    withLedger(({ decisions }) => {
      const id = decisions.add(WEB, decision("remove"), at(0));
      decisions.add(THERE, decision("other"), at(1));
      decisions.end(WEB, id, { status: "failed", message: "in use" });
      assert.equal(decisions.of(WEB, 1)[0]?.id, id, "what is the last one stays where it is");
      const again = decisions.add(WEB, decision("remove again"), at(2));
      decisions.add(WEB, decision("it waits"), at(2));
      decisions.end(WEB, again, { status: "succeeded", message: "removed" });
      const told = decisions.of(WEB, 9).map(({ message, outcome }) => [message, outcome?.message]);
      assert.deepEqual(told, [["remove again", "removed"], ["it waits", undefined], [
        "remove",
        "in use",
      ]]);
      const latest = decisions.latest().map(({ decision: { message } }) => message);
      assert.deepEqual(latest.sort(), ["other", "remove again"]);
      const next = decisions.add(WEB, decision("next"), at(3));
      assert.equal(decisions.of(WEB, 1)[0]?.id, next);
    }),
  );

  it(
    "add() counts a decision that equals the one before, and no other",
    withLedger(({ decisions }) => {
      for (const [minute, message] of ["a", "a", "a", "b", "a"].entries()) {
        decisions.add(WEB, decision(message), at(minute));
      }
      decisions.add(THERE, decision("a"), at(9));
      assert.deepEqual(decisions.of(WEB, 9), [
        { ...decision("a"), id: 3, firstAt: at(4), lastAt: at(4), times: 1 },
        { ...decision("b"), id: 2, firstAt: at(3), lastAt: at(3), times: 1 },
        { ...decision("a"), id: 1, firstAt: at(0), lastAt: at(2), times: 3 },
      ]);
      assert.deepEqual(decisions.of(WEB, 9, 3).map(({ id }) => id), [2, 1], "the page after it");
      assert.equal(decisions.of(WEB, 2).length, 2);
      assert.equal(decisions.of(THERE, 9).length, 1);
    }),
  );

  it(
    "add() keeps as much of a decision as a person reads, and says how much more there is",
    withLedger(({ decisions }) => {
      const changes = Array.from({ length: 5000 }, (_, index) => ({
        input: `${"x".repeat(80)}${index}`,
        from: "a",
        to: "absent",
      }));
      const services = Array.from({ length: 500 }, (_, index) => ({
        name: `web${index}`,
        action: "create" as const,
        because: Array.from({ length: 20 }, () => "y".repeat(4000)),
      }));
      decisions.add(WEB, { ...decision("z".repeat(9000)), changes, services }, at(0));
      decisions.add(WEB, { ...decision("z".repeat(9000)), changes, services }, at(1));
      const [kept] = decisions.of(WEB, 1);
      assert.ok(kept && JSON.stringify(kept).length < 150_000);
      assert.equal(kept.times, 2);
      const told = [kept.changes.length, kept.services.length];
      assert.ok((told[0] ?? 0) > 100 && (told[1] ?? 0) > 0);
      const more = kept.message.slice(2000);
      const [inputs, others] = [5000 - (told[0] ?? 0), 500 - (told[1] ?? 0)];
      const words = ` (and ${inputs} more inputs that changed) (and ${others} more services)`;
      assert.equal(more, words);
      const { changes: _, services: __, ...summary } = kept;
      assert.deepEqual(decisions.latest(), [{ key: WEB, decision: summary }]);
    }),
  );

  it(
    "add() forgets the oldest of one stack alone",
    withLedger(({ decisions }) => {
      decisions.add(THERE, decision("kept"), at(0));
      for (let count = 0; count < DECISIONS_PER_STACK + 5; count++) {
        decisions.add(WEB, decision(`${count}`), at(count));
      }
      const kept = decisions.of(WEB, 9999);
      assert.equal(kept.length, DECISIONS_PER_STACK);
      assert.equal(kept.at(-1)?.message, "5");
      assert.equal(decisions.of(THERE, 9)[0]?.message, "kept");
    }),
  );
});

describe("PersonHolds", () => {
  it(
    "get() tells of a hold while it lasts, and the ledger's mark changes with it",
    withLedger((ledger) => {
      const { holds } = ledger;
      const before = ledger.mark(WEB);
      assert.equal(holds.remove(WEB), false);
      holds.set(WEB, { reason: "CPU bug", heldAt: at(0) });
      assert.deepEqual(holds.get(WEB), { reason: "CPU bug", heldAt: at(0) });
      assert.notEqual(ledger.mark(WEB), before);
      assert.equal(holds.get(THERE), undefined);
      holds.set(WEB, { reason: "", heldAt: at(1), until: at(-24 * 60) });
      assert.equal(holds.get(WEB), undefined, "its time is over");
      assert.equal(ledger.mark(WEB), before);
      const until = new Date(Date.UTC(2999, 0));
      holds.set(WEB, { reason: "", heldAt: at(1), until });
      assert.deepEqual(holds.get(WEB)?.until, until);
      assert.equal(holds.remove(WEB), true);
      assert.equal(holds.get(WEB), undefined);
    }),
  );
});

describe("Owners", () => {
  const [mine, branch, other] = [
    { source: "host/a/shop", reference: "" },
    { source: "host/a/shop", reference: "refs/heads/main" },
    { source: "host/b/shop", reference: "refs/heads/main" },
  ];

  it(
    "settle() records the owner, learns its branch and keeps it",
    withLedger(({ owners }) => {
      assert.equal(owners.get(WEB), undefined);
      owners.settle(WEB, mine);
      assert.deepEqual(owners.get(WEB), { ...mine, adopted: false });
      owners.settle(WEB, branch);
      owners.settle(WEB, mine);
      assert.deepEqual(owners.get(WEB), { ...branch, adopted: false });
      assert.equal(owners.get(THERE), undefined);
    }),
  );

  it(
    "adopt() makes another the owner for good, changes the mark, and forgets who was refused",
    withLedger((ledger) => {
      const { owners } = ledger;
      const unknown = ledger.mark(WEB);
      owners.settle(WEB, branch);
      assert.equal(ledger.mark(WEB), unknown);
      owners.refuse(WEB, other);
      owners.refuse(WEB, other);
      owners.refuse(THERE, mine);
      assert.deepEqual(owners.refused(WEB), [other]);
      owners.adopt(WEB, other);
      assert.notEqual(ledger.mark(WEB), unknown);
      owners.settle(WEB, branch);
      assert.deepEqual(owners.get(WEB), { ...other, adopted: true });
      assert.deepEqual(owners.refused(WEB), []);
      assert.deepEqual(owners.refused(THERE), [mine]);
      owners.settle(WEB, other);
      assert.deepEqual(owners.get(WEB), { ...other, adopted: true });
      ledger.destroyed(ledger.beginDestroy(WEB, {}), "gone");
      assert.equal(owners.get(WEB), undefined);
    }),
  );

  const a = { id: "a", cluster: "" };
  const [here, alias] = [stackKey("", "web"), stackKey("alias", "web")];

  it(
    "adopt() refuses while another owner has the stack by a context of the engine that is not named",
    withLedger((ledger) => {
      const { owners } = ledger;
      const third = stackKey("third", "web");
      for (const key of [here, alias, third]) owners.settle(key, branch);
      for (const context of ["default", "alias"]) owners.noteEngine(context, a);
      owners.noteEngine("third", { id: "b", cluster: "" });
      owners.refuse(here, mine);
      const before = ledger.mark(here);
      const asks = (also?: string[]) => () => ledger.handOver(alias, other, also && { also });
      assert.throws(asks(), {
        code: "conflict",
        message: /^web was not handed over: .* by context default.*--also default\. If not/,
      });
      assert.throws(asks(["default", "third"]), {
        code: "not_found",
        message: /context third does not have it, or did not lead to the engine of context alias/,
      });
      assert.deepEqual([here, alias].map((key) => owners.get(key)), [
        { ...branch, adopted: false },
        { ...branch, adopted: false },
      ]);
      ledger.handOver(alias, branch);
      assert.deepEqual(owners.get(here), { ...branch, adopted: false });
      asks(["default", "alias"])();
      for (const key of [here, alias]) {
        assert.deepEqual(owners.get(key), { ...other, adopted: true });
      }
      assert.deepEqual(owners.get(third), { ...branch, adopted: false });
      assert.deepEqual(owners.refused(here), []);
      assert.notEqual(ledger.mark(here), before);
      owners.noteEngine("alias", { id: "c", cluster: "" });
      assert.deepEqual(owners.get(alias), { ...other, adopted: true });
    }),
  );

  it(
    "get() gives a stack to neither owner where a context leads to the engine only after a hand-over by it",
    withLedger((ledger) => {
      const { owners } = ledger;
      owners.settle(here, branch);
      const before = ledger.mark(here);
      owners.adopt(alias, other);
      assert.deepEqual(owners.get(here), { ...branch, adopted: false });
      for (const context of ["default", "alias"]) owners.noteEngine(context, a);
      const contested = { ...other, context: "alias" };
      assert.deepEqual(owners.get(here), { ...branch, adopted: false, contested });
      const formers = { ...branch, context: "default" };
      assert.deepEqual(owners.get(alias), { ...other, adopted: true, contested: formers });
      assert.equal(owners.toClear(alias), 0);
      assert.notEqual(ledger.mark(here), before);
      assert.deepEqual(owners.beside(here), [contested]);
      owners.settle(here, mine);
      owners.adopt(here, branch, ["alias"]);
      for (const key of [here, alias]) {
        assert.deepEqual(owners.get(key), { ...branch, adopted: true });
      }
    }),
  );

  it(
    "get() gives a stack of two owners to neither while their contexts lead to one engine",
    withLedger(({ owners }) => {
      const third = stackKey("third", "web");
      owners.settle(here, branch);
      owners.settle(alias, { ...branch, reference: "refs/heads/dev" });
      owners.settle(third, mine);
      for (const context of ["default", "alias"]) owners.noteEngine(context, a);
      assert.equal(owners.get(here)?.contested?.context, "alias");
      assert.equal(owners.get(alias)?.contested?.context, "default");
      assert.deepEqual(owners.get(third), { ...mine, adopted: false });
      owners.noteEngine("third", a);
      const contesting = owners.get(third)?.contested?.context;
      assert.ok(contesting !== undefined, "a source without a branch is not both branches'");
      owners.noteEngine("alias", { ...a, id: "b" });
      owners.noteEngine("third", { ...a, id: "b" });
      assert.deepEqual(owners.get(here), { ...branch, adopted: false });
    }),
  );

  it(
    "get() learns a branch from another context of the engine, and not from one that says nothing of itself",
    withLedger(({ owners }) => {
      owners.settle(here, branch);
      owners.settle(alias, mine);
      for (const context of ["default", "alias"]) owners.noteEngine(context, { ...a, id: "" });
      assert.deepEqual(owners.get(alias), { ...mine, adopted: false });
      for (const context of ["default", "alias"]) owners.noteEngine(context, a);
      assert.deepEqual(owners.get(alias), { ...branch, adopted: false, elsewhere: "default" });
    }),
  );

  it(
    "refuse() keeps so many and no more",
    withLedger(({ owners }) => {
      for (let count = 0; count < 50; count++) {
        owners.refuse(WEB, { source: `host/${count}/shop`, reference: "" });
      }
      assert.equal(owners.refused(WEB).length, 20);
    }),
  );

  it(
    "refuse() keeps the newest, and forgets the oldest of the source with the most",
    withLedger(({ owners }) => {
      const [first, last] = ["a", "c"].map((name) => ({
        source: `host/${name}`,
        reference: "main",
      }));
      owners.refuse(WEB, first!);
      for (let count = 0; count < 50; count++) {
        owners.refuse(WEB, { source: "host/b", reference: `x${count}` });
      }
      owners.refuse(WEB, last!);
      const kept = owners.refused(WEB);
      const theirs = Array.from({ length: 18 }, (_, count) => `x${count + 32}`);
      assert.deepEqual([kept[0], kept.at(-1)], [first, last]);
      assert.deepEqual(kept.slice(1, -1).map(({ reference }) => reference), theirs);
    }),
  );
});

describe("Pins", () => {
  it(
    "set() replaces the pin of a stack, remove() says whether there was one",
    withLedger((ledger) => {
      const { pins } = ledger;
      const releaseId = ledger.beginDeploy(releaseOf(WEB, "a1")).releaseId ?? "";
      assert.equal(pins.get(WEB), undefined);
      assert.equal(pins.remove(WEB), false);
      pins.set(WEB, { releaseId, revision: "a1", pinnedAt: at(1) });
      pins.set(WEB, { releaseId, revision: "b2", pinnedAt: at(2) });
      assert.deepEqual(pins.get(WEB), { releaseId, revision: "b2", pinnedAt: at(2) });
      assert.equal(pins.get(THERE), undefined);
      assert.deepEqual([pins.remove(WEB), pins.remove(WEB)], [true, false]);
      assert.equal(pins.get(WEB), undefined);
    }),
  );
});

describe("Reconciliations", () => {
  const options = {
    enabled: true,
    events: ["unhealthy"],
    drift: "report",
    restartTimeoutSeconds: 10,
    restartSignal: "",
    restartLimit: 5,
    restartWindowSeconds: 300,
  } as const;

  it(
    "remembers how each stack reacts until it is destroyed",
    withLedger((ledger) => {
      const { reconciliations } = ledger;
      assert.equal(reconciliations.get(WEB), undefined);
      const byDefault = { removeOrphans: false, waitRunningJobs: true };
      assert.deepEqual(reconciliations.forReleases(WEB), byDefault);
      const asked = { removeOrphans: true, waitRunningJobs: false };
      reconciliations.settle(WEB, { ...options, ...asked });
      assert.deepEqual(reconciliations.forReleases(WEB), asked);
      reconciliations.settle(WEB, options);
      assert.deepEqual(reconciliations.forReleases(WEB), byDefault);
      reconciliations.settle(THERE, { ...options, enabled: false });
      assert.deepEqual(reconciliations.get(WEB), options);
      assert.equal(reconciliations.get(THERE)?.enabled, false);
      reconciliations.suspend(WEB);
      reconciliations.suspend(WEB);
      assert.equal(reconciliations.get(WEB), undefined);
      reconciliations.resume(WEB);
      assert.deepEqual(reconciliations.get(WEB), options);
      ledger.destroyed(ledger.beginDestroy(WEB, {}), "gone");
      reconciliations.resume(WEB);
      assert.equal(reconciliations.get(WEB), undefined);
      assert.equal(reconciliations.get(THERE)?.enabled, false);
    }),
  );

  it(
    "remembers what was changed by hand, of each stack that was looked at",
    withLedger((ledger) => {
      const { reconciliations } = ledger;
      const fields = [{ service: "web", field: "mem_limit", wanted: "1 MiB", found: "2 MiB" }];
      const found = { count: 1, fields, tried: [] };
      assert.equal(reconciliations.drift(WEB), undefined);
      reconciliations.noteDrift(WEB, { ...found, tried: fields });
      reconciliations.noteDrift(WEB, found);
      assert.deepEqual(reconciliations.drift(WEB), found);
      assert.deepEqual([...reconciliations.drifts().values()], [found]);
      ledger.destroyed(ledger.beginDestroy(WEB, {}), "gone");
      assert.equal(reconciliations.drift(WEB), undefined);
    }),
  );

  it(
    "keeps what a swarm did by itself, and was told, through later looks",
    withLedger(({ reconciliations }) => {
      const fields = [{ service: "web", field: "user", wanted: "none", found: "1" }];
      const verdict = { service: "web", id: "s1 paused", state: "paused" } as const;
      const told = { ...verdict, digest: undefined, why: "", tasksFailed: false };
      const before = { count: 1, fields, tried: [] };
      reconciliations.noteDrift(WEB, before);
      reconciliations.noteVerdicts(WEB, [told]);
      // As by who began to look before that.
      reconciliations.noteDrift(WEB, before);
      assert.deepEqual(reconciliations.drift(WEB), { ...before, verdicts: [told.id] });
      reconciliations.noteTried(WEB, fields);
      assert.deepEqual(reconciliations.drift(WEB)?.tried, fields);
      reconciliations.noteVerdicts(WEB, []);
      assert.deepEqual(reconciliations.drift(WEB)?.verdicts, []);
    }),
  );

  it(
    "counts restarts of a container of a release within a window",
    withLedger(({ reconciliations }) => {
      const one = { key: WEB, release: "r1", container: "web-1" };
      for (const minute of [1, 2, 9]) reconciliations.noteRestart(one, at(minute));
      assert.equal(reconciliations.restartsSince(one, at(0)), 3);
      assert.equal(reconciliations.restartsSince(one, at(2)), 1);
      assert.equal(reconciliations.restartsSince({ ...one, release: "r2" }, at(0)), 0);
      assert.equal(reconciliations.restartsSince({ ...one, container: "web-2" }, at(0)), 0);
      assert.equal(reconciliations.restartsSince({ ...one, key: THERE }, at(0)), 0);
    }),
  );

  it(
    "remembers the last restarts of a stack, and verdicts as many as it may have services",
    withLedger(({ reconciliations }) => {
      const one = { key: WEB, release: "r1", container: "web-1" };
      const other = { ...one, key: THERE };
      reconciliations.noteRestart(other, at(0));
      // By hand: noted one by one they take 20 s.
      reconciliations["database"].run(
        `INSERT INTO restarts (context, name, release, container, at)
         WITH RECURSIVE counted (count) AS
           (SELECT 0 UNION ALL SELECT count + 1 FROM counted WHERE count < 10007)
         SELECT context, name, 'r1', 'web-1', ? + count * 60000 FROM counted,
           (SELECT ? AS context, ? AS name)`,
        at(0),
        WEB,
      );
      for (const count of [10_008, 10_009]) reconciliations.noteRestart(one, at(count));
      assert.equal(reconciliations.restartsSince(one, at(-1)), 10_000);
      assert.equal(reconciliations.restartsSince(one, at(9)), 10_000);
      assert.equal(reconciliations.restartsSince(other, at(-1)), 1);
      const verdict = { service: "web", state: "paused", digest: undefined, why: "" } as const;
      const told = Array.from({ length: 2000 }, (_, count) => ({
        ...{ ...verdict, id: `${count} ${"x".repeat(300)}`, tasksFailed: false },
      }));
      reconciliations.noteVerdicts(WEB, told);
      assert.ok(JSON.stringify(reconciliations.drift(WEB)).length < 400_000);
    }),
  );
});
