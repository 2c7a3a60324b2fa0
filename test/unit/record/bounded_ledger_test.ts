import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { type Release, type StackKey, stackKey } from "../../../src/model/mod.ts";
import { InstanceKey, Ledger } from "../../../src/record/mod.ts";
import { createIds } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { itAtLength } from "../../fakes/sample.ts";
import { MOST_GONE } from "../../../src/record/forget_releases.ts";
import { releaseOf } from "./releases.ts";

const DAY_MS = 24 * 3600 * 1000;
const WEB = stackKey("", "web");

/** Runs `work` with a ledger in a directory of its own. */
async function withLedger(
  work: (ledger: Ledger, place: Place) => Promise<void> | void,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-bounded-"));
  const clock = createFakeClock();
  const path = join(directory, "state.db");
  const key = new InstanceKey(new Uint8Array(32).fill(7));
  const ledger = new Ledger(path, { key, clock, ids: createIds(clock), redact: String });
  try {
    await work(ledger, { clock, path });
  } finally {
    ledger.close();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Place {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly path: string;
}

function deploy(ledger: Ledger, release: Release): string {
  const intent = ledger.beginDeploy(release);
  ledger.succeed(intent, { web: `sha256:${release.digest}` }, "deployed");
  return intent.releaseId ?? "";
}

function fail(ledger: Ledger, release: Release): void {
  ledger.fail(ledger.beginDeploy(release), "rolled_back", "it did not become healthy");
}

const numbers = (ledger: Ledger, key = WEB) => ledger.history(key, 9999).map((each) => each.number);

describe("a bounded ledger", () => {
  it("keeps the last hundred releases of a stack, and what a rollback may need", () =>
    withLedger((ledger) => {
      for (const id of ["a", "b", "c"]) deploy(ledger, releaseOf(WEB, id));
      const [, , first] = ledger.history(WEB, 3);
      assert.ok(first);
      ledger.pins.set(WEB, { releaseId: first.id, revision: "x", pinnedAt: new Date(0) });
      for (let count = 0; count < 110; count++) fail(ledger, releaseOf(WEB, `bad${count}`));
      const kept = numbers(ledger);
      assert.equal(kept.length, 103);
      assert.deepEqual(kept.slice(-4), [14, 3, 2, 1]);
      const [current] = ledger.currents();
      assert.equal(current?.number, 3);
      assert.equal(ledger.open(first).digest, "digest-a");
      assert.equal(ledger.release(first.id)?.number, 1);

      ledger.pins.remove(WEB);
      for (let count = 0; count < 12; count++) deploy(ledger, releaseOf(WEB, `good${count}`));
      // Ten good ones that differ are kept beyond the last hundred.
      assert.equal(numbers(ledger).at(-1), 26);
      assert.deepEqual(ledger.underWay(), []);
    }));

  it("reads history page by page", () =>
    withLedger((ledger) => {
      for (const id of ["a", "b", "c", "d", "e"]) deploy(ledger, releaseOf(WEB, id));
      const page = (before?: number) => ledger.history(WEB, 2, before).map((each) => each.number);
      assert.deepEqual([page(), page(4), page(2), page(1)], [[5, 4], [3, 2], [1], []]);
    }));

  it("writes no model again for a repair, and opens it all the same when its first one is gone", () =>
    withLedger(async (ledger, { path }) => {
      const large = releaseOf(WEB, "a", {
        model: { services: { web: { x: "y".repeat(200_000) } } },
      });
      const first = deploy(ledger, large);
      for (let count = 0; count < 120; count++) deploy(ledger, large);
      ledger.close();
      assert.ok((await stat(path)).size < 2_000_000);
      const again = new Ledger(path, {
        key: new InstanceKey(new Uint8Array(32).fill(7)),
        clock: createFakeClock(),
        ids: createIds(createFakeClock()),
        redact: String,
      });
      try {
        const current = again.current(WEB);
        assert.ok(current);
        assert.equal(current.number, 121);
        assert.deepEqual(again.open(current).model, large.model);
        assert.ok(again.release(first), "the others need it");
      } finally {
        again.close();
      }
    }));

  it("keeps the last removal of each end, however often one fails", () =>
    withLedger((ledger, { path }) => {
      const count = () => {
        const database = new DatabaseSync(path, { readOnly: true });
        const row = database.prepare("SELECT count(*) AS count FROM intents").get();
        database.close();
        return row?.["count"];
      };
      const failing = () => ledger.fail(ledger.beginDestroy(WEB, {}), "failed", "volume is in use");
      deploy(ledger, releaseOf(WEB, "a"));
      ledger.destroyed(ledger.beginDestroy(WEB, {}), "destroyed");
      fail(ledger, releaseOf(WEB, "b"));
      for (let time = 0; time < 100; time++) failing();
      // Two deployments, the removal that succeeded, and the last one that failed.
      assert.equal(count(), 4);
      assert.equal(ledger.leftDestroy(WEB), true);
      const mark = ledger.mark(WEB);
      failing();
      assert.notEqual(ledger.mark(WEB), mark);
      assert.equal(count(), 4);
      ledger.destroyed(ledger.beginDestroy(WEB, {}), "destroyed");
      assert.equal(ledger.leftDestroy(WEB), false);
    }));

  it("forgets a stack that was destroyed a season ago", () =>
    withLedger(async (ledger, { clock }) => {
      const gone = stackKey("", "preview-1");
      deploy(ledger, releaseOf(gone, "a"));
      ledger.destroyed(ledger.beginDestroy(gone, {}), "destroyed");
      assert.equal(numbers(ledger, gone).length, 1);
      deploy(ledger, releaseOf(WEB, "a"));
      await clock.advance(91 * DAY_MS);
      const other = stackKey("", "preview-2");
      deploy(ledger, releaseOf(other, "a"));
      ledger.destroyed(ledger.beginDestroy(other, {}), "destroyed");
      assert.deepEqual([gone, other, WEB].map((each) => numbers(ledger, each).length), [0, 1, 1]);
    }));

  it("remembers a thousand names of stacks that were never deployed, for a week", () =>
    withLedger(async (ledger, { clock }) => {
      const say = (name: string) => {
        const key = stackKey("", name);
        const failed = {
          kind: "error",
          message: "no such file",
          changes: [],
          services: [],
        } as const;
        const about = { trigger: "poll", origin: "automatic", revision: "main (1)" } as const;
        ledger.decisions.add(key, { ...about, ...failed }, clock.now());
      };
      const names = () => ledger.decisions.latest().map(({ key }) => key.name);
      deploy(ledger, releaseOf(WEB, "a"));
      say("web");
      const interrupted = stackKey("", "interrupted");
      ledger.beginDeploy(releaseOf(interrupted, "a"));
      const failure = {
        release: "x",
        source: "s",
        message: "no",
        at: clock.now(),
        automatic: true,
      };
      ledger.failures.fail(stackKey("", "x1"), failure);
      const [source, before] = ["example.com/heir", "example.com/before"];
      const [left, kept] = ["left", "kept"].map((name) => stackKey("", name)) as [
        StackKey,
        StackKey,
      ];
      for (const key of [left, kept]) ledger.owners.settle(key, { source: before, reference: "" });
      ledger.owners.adopt(left, { source, reference: "" });
      for (const key of [left, kept]) {
        ledger.destroyed(ledger.beginDestroy(key, {}), "destroyed", { keepsOwner: true });
      }
      await clock.advance(1000);
      for (let name = 0; name < 1300; name++) {
        if (name % 50 === 0) await clock.advance(1);
        say(`x${name}`);
        if (name % 50 === 0) say("followed");
      }
      const known = names();
      assert.ok(known.length <= MOST_GONE + 102, `${known.length}`);
      for (const name of ["web", "followed", "x1299"]) assert.ok(known.includes(name), name);
      assert.equal(ledger.failures.get(stackKey("", "x1")), undefined);
      assert.equal(ledger.underWay().length, 1);
      // Volumes that are left of it have labels of the owner before.
      assert.equal(ledger.owners.get(left)?.source, source);
      // They tell no branch either, and another one must not get them by naming many stacks.
      assert.equal(ledger.owners.get(kept)?.source, before);

      const held = stackKey("", "x1298");
      ledger.holds.set(held, { reason: "no", heldAt: clock.now() });
      await clock.advance(8 * DAY_MS);
      for (let name = 0; name < 100; name++) say(`y${name}`);
      const later = names();
      assert.ok(later.includes("x1298") && later.includes("web"));
      assert.ok(!later.includes("x1299") && later.length <= 104, `${later.length}`);

      // Who writes another repository names as many as they like, and does not end a person's hold so.
      for (let name = 0; name < 1200; name++) {
        if (name % 50 === 0) await clock.advance(1);
        say(`z${name}`);
      }
      assert.ok(ledger.holds.get(held) !== undefined && names().includes("x1298"));
      ledger.holds.set(held, { reason: "no", heldAt: clock.now(), until: clock.now() });
      for (let name = 0; name < 1200; name++) {
        if (name % 50 === 0) await clock.advance(1);
        say(`w${name}`);
      }
      assert.ok(!names().includes("x1298"), "the hold has ended");
      assert.equal(ledger.owners.get(kept)?.source, before);
      await clock.advance(83 * DAY_MS);
      for (let name = 0; name < 100; name++) say(`v${name}`);
      assert.equal(ledger.owners.get(left)?.source, source);
      // A season later they are there as they were, and their labels still tell no branch.
      assert.equal(ledger.owners.get(kept)?.source, before);
    }));

  it("remembers a thousand owners of stacks without a release for each branch", () =>
    withLedger((ledger) => {
      const own = (name: string, reference: string) =>
        ledger.owners.settle(stackKey("", name), { source: "example.com/x", reference });
      own("first", "refs/heads/many");
      for (let name = 0; name < MOST_GONE; name++) own(`x${name}`, "refs/heads/many");
      own("other", "refs/heads/other");
      own("web", "refs/heads/many");
      deploy(ledger, releaseOf(WEB, "a"));
      ledger.destroyed(ledger.beginDestroy(stackKey("", "gone"), {}), "destroyed");
      const known = (name: string) => ledger.owners.get(stackKey("", name)) !== undefined;
      assert.deepEqual(["first", "x0", "other", "web"].map(known), [true, true, true, true]);
      // The last one goes: nobody's are pushed out, not even that branch's own.
      assert.deepEqual([MOST_GONE - 2, MOST_GONE - 1].map((name) => known(`x${name}`)), [
        true,
        false,
      ]);
    }));

  itAtLength(
    "keeps what waits for a window of each repository, however many names another one has",
    async () => {
      const clock = createFakeClock();
      const ledger = createMemoryLedger(clock);
      const defer = (name: string, repository: string, reference = "") => {
        const key = stackKey("", name);
        const request = {
          ...{ kind: "git", url: repository, reference: "main", target: "" } as const,
          deployments: [],
        };
        ledger.deferred.set(key, {
          trigger: "webhook",
          request,
          asker: { source: repository, reference },
        });
        const skip = { kind: "skip", reason: "sync_window", message: "closed" } as const;
        const about = { trigger: "webhook", origin: "automatic", revision: "main (1)" } as const;
        const nothing = { changes: [], services: [] };
        ledger.decisions.add(key, { ...about, ...skip, ...nothing }, clock.now());
      };
      defer("honest", "example.com/honest");
      // A name that the other one has as well, whose decision is the latest then.
      defer("x0", "example.com/honest");
      for (let name = 0; name < 1300; name++) {
        if (name % 50 === 0) await clock.advance(1);
        defer(`x${name}`, "example.com/other", `refs/heads/${name % 2}`);
      }
      defer("x1299", "example.com/other", "refs/heads/0");
      const waiting = ledger.deferred.all();
      const left = waiting.map(({ key: { name } }) => name);
      assert.ok(left.includes("honest") && left.includes("x1299"));
      const honest = waiting.filter(({ asker }) => asker.source === "example.com/honest");
      assert.deepEqual(honest.map(({ key: { name } }) => name), ["honest", "x0"]);
      assert.ok(left.length <= MOST_GONE + 102, `${left.length}`);
    },
  );

  itAtLength(
    "keeps the history of each repository, however many branches another one has",
    async () => {
      const clock = createFakeClock();
      const ledger = createMemoryLedger(clock);
      const gone = (name: string, source: string, reference: string) => {
        const key = stackKey("", name);
        ledger.owners.settle(key, { source, reference });
        ledger.destroyed(ledger.beginDestroy(key, {}), "destroyed", { keepsOwner: true });
        const skip = { kind: "skip", message: "destroyed", changes: [], services: [] } as const;
        const about = { trigger: "poll", origin: "automatic", revision: "main (1)" } as const;
        ledger.decisions.add(key, { ...about, ...skip }, clock.now());
      };
      for (const name of ["a", "b"]) gone(name, "example.com/honest", "refs/heads/main");
      for (let name = 0; name < MOST_GONE + 100; name++) {
        if (name % 50 === 0) await clock.advance(1);
        gone(`x${name}`, "example.com/other", `refs/heads/x${name}`);
      }
      const known = ledger.decisions.latest().map(({ key }) => key.name);
      assert.deepEqual(["a", "b", "x0"].map((name) => known.includes(name)), [true, true, false]);
    },
  );

  itAtLength(
    "keeps the history of a destroyed stack, however many names were never deployed",
    async () => {
      const clock = createFakeClock();
      const ledger = createMemoryLedger(clock);
      deploy(ledger, releaseOf(WEB, "a"));
      ledger.owners.settle(WEB, { source: "h.example/o/r", reference: "refs/heads/main" });
      // Nothing is left of it: its owner is forgotten.
      ledger.destroyed(ledger.beginDestroy(WEB, {}), "destroyed");
      const skip = { kind: "skip", message: "paused", changes: [], services: [] } as const;
      const about = { trigger: "poll", origin: "automatic", revision: "main (1)" } as const;
      for (let name = 0; name < MOST_GONE + 300; name++) {
        if (name % 50 === 0) await clock.advance(1);
        ledger.decisions.add(stackKey("", `x${name}`), { ...about, ...skip }, clock.now());
      }
      const known = ledger.decisions.latest().map(({ key }) => key.name);
      assert.deepEqual([numbers(ledger), known.includes("x0")], [[1], false]);
    },
  );
});

describe("a bounded ledger, at length", () => {
  const it = itAtLength;

  it("keeps the history and owners of each repository that one configuration discovers stacks in", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    const source = "example.com/conf";
    const from = (name: string, repository: string): Release => {
      const key = stackKey("", name);
      const owner = { source, reference: "refs/heads/main" };
      ledger.owners.settle(key, owner, { repository, isFound: true });
      const release = releaseOf(key, name);
      const at = (name: string) => ({
        ...release.revision,
        source: { ...release.revision.source, name },
      });
      return { ...release, revision: at(repository), configuration: at(source) };
    };
    const gone = (name: string) => {
      deploy(ledger, from(name, "example.com/honest"));
      const intent = ledger.beginDestroy(stackKey("", name), {});
      ledger.destroyed(intent, "destroyed", { keepsOwner: true });
    };
    gone("honest");
    for (let name = 0; name < MOST_GONE + 100; name++) {
      if (name % 50 === 0) await clock.advance(1);
      fail(ledger, from(`x${name}`, "example.com/other"));
    }
    gone("late");
    assert.deepEqual(numbers(ledger, stackKey("", "honest")), [1]);
    assert.deepEqual(numbers(ledger, stackKey("", "x0")), []);
    const owner = (name: string) => ledger.owners.get(stackKey("", name))?.source;
    assert.deepEqual(["honest", "late", "x0"].map(owner), [source, source, source]);
    assert.equal(owner(`x${MOST_GONE + 99}`), undefined);
  });

  it("stays under 100 MB in a year of polls every minute with 200 stacks", () =>
    withLedger(async (ledger, { clock, path }) => {
      const stacks = ["one", "two"].map((name) => stackKey("", name));
      // What a stack has at most does not grow any more: it is measured, and counted 200 times.
      const live = async (from: number, to: number) => {
        for (let change = from; change < to; change++) {
          await clock.advance(DAY_MS);
          for (const key of stacks) oneDay(ledger, key, change, clock.now());
        }
      };
      const size = async () => {
        const database = new DatabaseSync(path);
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        database.close();
        return (await stat(path)).size;
      };
      const empty = await size();
      await live(0, 60);
      const full = await size();
      await live(60, 80);
      const later = await size();
      assert.ok(later <= full * 1.1, `it grew from ${full} to ${later} bytes`);
      const bytes = empty + (later - empty) / stacks.length * 200;
      assert.ok(bytes < 100_000_000, `200 stacks take ${bytes} bytes`);
    }));
});

/** A day of a stack: two releases, a repair, and polls in between that found nothing to do. */
function oneDay(ledger: Ledger, key: Release["key"], change: number, at: Date): void {
  const say = (kind: "skip" | "deploy", message: string, revision: string) =>
    ledger.decisions.add(key, {
      trigger: "poll",
      origin: "automatic",
      revision,
      kind,
      message,
      changes: [{ input: "compose.yaml", from: revision, to: `${revision}-2` }],
      services: ["db", "web", "worker"].map((name) => ({
        name,
        action: "keep" as const,
        because: ["its inputs are unchanged"],
      })),
    }, at);
  for (const part of ["morning", "evening"]) {
    const release = releaseOf(key, `${change}-${part}`);
    deploy(ledger, release);
    say("deploy", "recreate web", release.digest);
    for (let poll = 0; poll < 3; poll++) say("skip", "no changes", release.digest);
  }
  deploy(ledger, releaseOf(key, `${change}-evening`));
}
