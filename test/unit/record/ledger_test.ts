import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import {
  formerOwner,
  isStackwrightError,
  type Release,
  type StackKey,
  stackKey,
} from "../../../src/model/mod.ts";
import {
  InstanceKey,
  type Intent,
  Ledger,
  type Pin,
  type Processes,
  type RecordedRelease,
} from "../../../src/record/mod.ts";
import { createIds } from "../../../src/system/mod.ts";
import { createFakeClock, type FakeClock } from "../../fakes/fake_clock.ts";
import { CANARY, releaseOf } from "./releases.ts";

const WEB = stackKey("", "web");
const key = new InstanceKey(new Uint8Array(32).fill(7));

interface Place {
  readonly path: string;
  readonly clock: FakeClock;
  /** Opens the ledger of this place, as another process would; closed at the end of the test. */
  open(more?: { key?: InstanceKey; processes?: Processes }): Ledger;
}

/** Runs `work` with a ledger in a directory of its own. */
function withLedger(work: (ledger: Ledger, place: Place) => unknown): () => Promise<void> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-ledger-"));
    const opened: Ledger[] = [];
    const clock = createFakeClock();
    const path = join(directory, "state.db");
    const open: Place["open"] = (more = {}) => {
      const ledger = new Ledger(path, {
        key,
        clock,
        ids: createIds(clock),
        redact: String,
        ...more,
      });
      opened.push(ledger);
      return ledger;
    };
    try {
      await work(open(), { path, clock, open });
    } finally {
      for (const ledger of opened) ledger.close();
      await rm(directory, { recursive: true, force: true });
    }
  };
}

/** Deploys `id` well and returns what is recorded of it. */
function deploy(ledger: Ledger, stack: StackKey, id: string): RecordedRelease {
  const intent = ledger.beginDeploy(releaseOf(stack, id));
  ledger.succeed(intent, { web: `sha256:${id}` }, `deployed ${id}`);
  return recorded(ledger, intent);
}

function recorded(ledger: Ledger, intent: Intent): RecordedRelease {
  const found = ledger.release(intent.releaseId ?? "");
  assert.ok(found !== undefined);
  return found;
}

const statuses = (ledger: Ledger, stack = WEB) =>
  ledger.history(stack, 99).map(({ number, status }) => `${number} ${status}`);

/** Records that the last attempt at the stack failed. */
function rememberFailure(ledger: Ledger): void {
  const failure = {
    release: "digest-x",
    source: "s",
    message: "no",
    at: new Date(0),
    automatic: true,
  };
  ledger.failures.fail(WEB, failure);
  assert.ok(ledger.failures.get(WEB));
}

describe("Ledger", () => {
  it(
    "a new ledger remembers nothing",
    withLedger((ledger) => {
      assert.equal(ledger.current(WEB), undefined);
      assert.equal(ledger.release("x"), undefined);
      assert.deepEqual(ledger.currents(), []);
      assert.deepEqual(ledger.history(WEB, 5), []);
      assert.deepEqual(ledger.underWay(), []);
    }),
  );

  it(
    "beginDeploy() records the intent and the release before anything is current",
    withLedger((ledger, { clock }) => {
      const intent = ledger.beginDeploy(releaseOf(WEB, "a1"));
      assert.deepEqual(ledger.underWay(), [intent]);
      assert.deepEqual(intent.key, WEB);
      assert.equal(intent.kind, "deploy");
      assert.equal(ledger.current(WEB), undefined);
      const { number, status, message, createdAt, finishedAt } = recorded(ledger, intent);
      assert.deepEqual([number, status, message], [1, "applying", ""]);
      assert.deepEqual([createdAt, finishedAt], [clock.now(), undefined]);
    }),
  );

  it(
    "messages are kept within a limit, whoever named what they tell of",
    withLedger((ledger) => {
      const intent = ledger.beginDeploy(releaseOf(WEB, "a1"));
      ledger.succeed(intent, {}, "y".repeat(20 << 20));
      const { message } = recorded(ledger, intent);
      assert.match(message, /^y+…$/);
      assert.ok(message.length < 100_000, `${message.length} characters`);
    }),
  );

  it(
    "succeed() makes the release current with its images, and forgets the failure before it",
    withLedger(async (ledger, { clock }) => {
      const intent = ledger.beginDeploy(releaseOf(WEB, "a1"));
      rememberFailure(ledger);
      await clock.advance(5_000);
      ledger.succeed(intent, { web: "sha256:1" }, "all healthy");
      const current = ledger.current(WEB);
      assert.deepEqual(current, recorded(ledger, intent));
      assert.deepEqual(ledger.currents(), [current]);
      assert.equal(current?.status, "deployed");
      assert.equal(current?.message, "all healthy");
      assert.deepEqual(current?.images, { web: "sha256:1" });
      assert.deepEqual(current?.finishedAt, clock.now());
      assert.deepEqual(ledger.underWay(), []);
      assert.equal(ledger.failures.get(WEB), undefined);
    }),
  );

  it(
    "open() gives back the whole release as it was, but for credentials in its URL",
    withLedger((ledger) => {
      const release = releaseOf(WEB, "a1");
      const { source } = release.revision;
      const found = deploy(ledger, WEB, "a1");
      const { services, inactive, closure, live, ...facts } = release;
      const revision = { ...release.revision, source: { ...source, url: "https://h.example/o/r" } };
      assert.deepEqual(ledger.open(found), { ...release, revision });
      const { id, number, status, message, createdAt, finishedAt, images, ...rest } = found;
      const { model: _, invocation: __, unused: ___, ...shown } = facts;
      assert.deepEqual(rest, { ...shown, inactive, revision });
      assert.deepEqual(ledger.shown(found), { services, inactive, live });
      assert.deepEqual(ledger.closure(found), closure);
      assert.ok(id && number && status && message && createdAt && finishedAt && images);
    }),
  );

  it(
    "open() says so when the release is gone",
    withLedger((ledger) => {
      const found = { ...deploy(ledger, WEB, "a1"), id: "no-such-id" };
      assert.throws(() => ledger.open(found), (error) => isStackwrightError(error, "not_found"));
    }),
  );

  for (const status of ["failed", "rolled_back"] as const) {
    it(
      `fail() records ${status} and leaves the current release what it was`,
      withLedger((ledger) => {
        const before = deploy(ledger, WEB, "a1");
        const intent = ledger.beginDeploy(releaseOf(WEB, "b2"));
        ledger.fail(intent, status, "web is unhealthy");
        assert.deepEqual(ledger.current(WEB), before);
        assert.equal(recorded(ledger, intent).message, "web is unhealthy");
        assert.deepEqual(statuses(ledger), [`2 ${status}`, "1 deployed"]);
        assert.deepEqual(ledger.underWay(), []);
      }),
    );
  }

  it(
    "succeed() keeps what failed before where it is about another release",
    withLedger((ledger) => {
      deploy(ledger, WEB, "a1");
      rememberFailure(ledger);
      const failure = ledger.failures.get(WEB);
      const intent = ledger.beginDeploy(releaseOf(WEB, "a1"));
      ledger.succeed(intent, {}, "repaired", { keepsFailure: true });
      assert.notEqual(failure, undefined);
      assert.deepEqual(ledger.failures.get(WEB), failure);
      assert.equal(ledger.current(WEB)?.message, "repaired");
    }),
  );

  it(
    "succeed() ends the pin that was there where it is told so; one that comes later stays",
    withLedger((ledger) => {
      const pin = {
        releaseId: deploy(ledger, WEB, "a1").id,
        revision: "a1",
        pinnedAt: new Date(1),
      };
      ledger.pins.set(WEB, pin);
      ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "b2")), {}, "deployed");
      assert.deepEqual(ledger.pins.get(WEB), pin);
      ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "c3")), {}, "deployed", { unpins: true });
      assert.equal(ledger.pins.get(WEB), undefined);
    }),
  );

  it(
    "pins.replace() moves or removes the pin that was looked at, and none that a person made since",
    withLedger((ledger) => {
      const [one, two] = [1, 2].map((at) => ({
        ...{ releaseId: deploy(ledger, WEB, `a${at}`).id, revision: "r", pinnedAt: new Date(at) },
      })) as [Pin, Pin];
      ledger.pins.set(WEB, one);
      const mark = ledger.pins.mark(WEB);
      assert.equal(ledger.pins.replace(WEB, mark, { ...one, revision: "s" }), true);
      assert.equal(ledger.pins.get(WEB)?.revision, "s");
      ledger.pins.set(WEB, two);
      for (const pin of [undefined, one]) assert.equal(ledger.pins.replace(WEB, mark, pin), false);
      assert.deepEqual(ledger.pins.get(WEB), two);
      assert.equal(ledger.pins.replace(WEB, ledger.pins.mark(WEB), undefined), true);
      assert.equal(ledger.pins.replace(WEB, mark, one), false);
      assert.equal(ledger.pins.get(WEB), undefined);
    }),
  );

  it(
    "destroyed() ends the stack and keeps its history; the next release counts on",
    withLedger((ledger) => {
      const before = deploy(ledger, WEB, "a1");
      rememberFailure(ledger);
      ledger.pins.set(WEB, { releaseId: before.id, revision: "a1", pinnedAt: new Date(1) });
      const intent = ledger.beginDestroy(WEB, { removeVolumes: true, removeImages: false });
      assert.deepEqual(ledger.underWay(), [intent]);
      assert.deepEqual(intent.options, { removeVolumes: true, removeImages: false });
      assert.equal(ledger.current(WEB)?.id, before.id);
      ledger.destroyed(intent, "removed");
      assert.equal(ledger.current(WEB), undefined);
      assert.equal(ledger.failures.get(WEB), undefined);
      assert.equal(ledger.pins.get(WEB), undefined);
      assert.deepEqual(ledger.underWay(), []);
      deploy(ledger, WEB, "b2");
      assert.deepEqual(statuses(ledger), ["2 deployed", "1 deployed"]);
    }),
  );

  it(
    "succeed() refuses the intent of a destroy: that is a bug",
    withLedger((ledger) => {
      const intent = ledger.beginDestroy(WEB, {});
      assert.throws(() => ledger.succeed(intent, {}, ""), /BUG/);
      assert.deepEqual(ledger.underWay(), [intent]);
    }),
  );

  it(
    "a release's URL keeps its SSH account, without which it leads elsewhere, and no password",
    withLedger((ledger) => {
      for (
        const [given, kept] of [
          ["ssh://deploy@nas:22/x", "ssh://deploy@nas:22/x"],
          ["ssh://a@b:p@w@nas:22/x", "ssh://a@b@nas:22/x"],
          ["ssh://:pw@nas/x@y", "ssh://@nas/x@y"],
          ["deploy@nas:x", "deploy@nas:x"],
          ["https://bot@h.example/x", "https://h.example/x"],
        ] as const
      ) {
        const release = releaseOf(WEB, "a1");
        const source = { ...release.revision.source, url: given };
        const made = { ...release, revision: { ...release.revision, source } };
        ledger.succeed(ledger.beginDeploy(made), {}, "x");
        assert.equal(ledger.current(WEB)?.revision.source.url, kept);
      }
    }),
  );

  it(
    "releases of earlier versions get the account of their owner's ssh:// URL with what is recorded next",
    withLedger((ledger) => {
      const at = (url: string, name = "nas/x") => {
        const release = releaseOf(WEB, "a1");
        const source = { ...release.revision.source, url, name };
        const revision = { ...release.revision, source };
        return { ...release, revision, configuration: revision };
      };
      const urls = () =>
        ledger.history(WEB, 9).map(({ revision, configuration }) => [
          revision.source.url,
          configuration?.source.url,
        ]);
      const deploy = (release: Release) => ledger.succeed(ledger.beginDeploy(release), {}, "x");
      const mine = { source: "nas/x", reference: "refs/heads/main" };
      ledger.owners.adopt(WEB, { source: "else/x", reference: "" });
      deploy(at("ssh://nas/x"));
      ledger.owners.adopt(WEB, mine);
      deploy(at("ssh://nas/x"));
      deploy(at("ssh://nas/y"));
      deploy(at("ssh://nas/x"));
      const { revision, configuration } = at("ssh://gitea:pw@nas/x");
      ledger.moveRevision(
        ledger.current(WEB) ?? assert.fail(),
        { revision, configuration },
        ledger.mark(WEB),
      );
      const [named, other, old] = ["ssh://gitea@nas/x", "ssh://nas/y", "ssh://nas/x"];
      assert.deepEqual(urls(), [named, other, named, old].map((each) => [each, each]));
      deploy(at("ssh://gitea@nas/y"));
      const last = "ssh://gitea@nas/y";
      assert.deepEqual(urls(), [last, named, last, named, old].map((each) => [each, each]));
    }),
  );

  it(
    "refresh() puts an equal release in the current one's place under the same number",
    withLedger((ledger) => {
      const before = deploy(ledger, WEB, "a1");
      const model = { services: { web: { image: "web:2" } } };
      ledger.refresh(before, releaseOf(WEB, "b2", { model }), ledger.mark(WEB));
      const { revision, digest, ...rest } = ledger.current(WEB) ?? assert.fail();
      assert.deepEqual([revision.id, digest], ["b2", "digest-b2"]);
      assert.doesNotMatch(revision.source.url, /canary/);
      const kept = [
        "id",
        "number",
        "status",
        "message",
        "createdAt",
        "finishedAt",
        "images",
      ] as const;
      for (const name of kept) assert.deepEqual(rest[name], before[name], name);
      assert.deepEqual(ledger.open(ledger.current(WEB) ?? before).model, model);
      assert.deepEqual(statuses(ledger), ["1 deployed"]);
    }),
  );

  it(
    "moveRevision() changes the revision and nothing else",
    withLedger((ledger) => {
      const before = deploy(ledger, WEB, "a1");
      const opened = ledger.open(before);
      const { revision } = releaseOf(WEB, "b2");
      ledger.moveRevision(
        before,
        { revision: { ...revision, reference: "refs/tags/v1" } },
        ledger.mark(WEB),
      );
      const after = ledger.current(WEB) ?? assert.fail();
      const expected = { ...before.revision, id: "b2", reference: "refs/tags/v1" };
      assert.deepEqual(after, { ...before, revision: expected });
      assert.deepEqual(ledger.open(after), { ...opened, revision: expected });
    }),
  );

  it(
    "history() is newest first, of one stack, and no longer than asked for",
    withLedger((ledger) => {
      for (const id of ["a1", "b2", "c3"]) deploy(ledger, WEB, id);
      deploy(ledger, stackKey("", "db"), "d4");
      const ids = (limit: number) => ledger.history(WEB, limit).map(({ revision }) => revision.id);
      assert.deepEqual(ids(2), ["c3", "b2"]);
      assert.deepEqual(ids(99), ["c3", "b2", "a1"]);
      assert.deepEqual(statuses(ledger), ["3 deployed", "2 deployed", "1 deployed"]);
      assert.equal(ledger.currents().length, 2);
    }),
  );

  it(
    "the same name on two contexts is two stacks",
    withLedger((ledger) => {
      const there = stackKey("prod", "web");
      const a = deploy(ledger, WEB, "a1");
      const b = deploy(ledger, there, "b2");
      assert.deepEqual([a.number, b.number], [1, 1]);
      assert.equal(ledger.current(WEB)?.id, a.id);
      assert.equal(ledger.current(there)?.id, b.id);
      ledger.destroyed(ledger.beginDestroy(there, {}), "removed");
      assert.equal(ledger.current(WEB)?.id, a.id);
      assert.equal(ledger.current(there), undefined);
    }),
  );

  it(
    "beginDeploy() and beginDestroy() close what an ended process left open for the stack",
    withLedger(async (ledger, { clock }) => {
      const first = ledger.beginDeploy(releaseOf(WEB, "a1"));
      const elsewhere = ledger.beginDeploy(releaseOf(stackKey("", "db"), "d4"));
      await clock.advance(1);
      const second = ledger.beginDeploy(releaseOf(WEB, "b2"));
      assert.deepEqual(ledger.underWay(), [elsewhere, second]);
      assert.equal(recorded(ledger, first).status, "failed");
      assert.match(recorded(ledger, first).message, /interrupted/);
      const third = ledger.beginDestroy(WEB, {});
      assert.deepEqual(ledger.underWay(), [elsewhere, third]);
      assert.deepEqual(statuses(ledger), ["2 failed", "1 failed"]);
    }),
  );
});

describe("Ledger over time", () => {
  it(
    "everything is there after it was closed and opened again",
    withLedger(async (ledger, { clock, open }) => {
      const deployed = deploy(ledger, WEB, "a1");
      await clock.advance(1);
      const intent = ledger.beginDeploy(releaseOf(WEB, "b2"));
      rememberFailure(ledger);
      const failure = ledger.failures.get(WEB);
      ledger.pins.set(WEB, { releaseId: deployed.id, revision: "b2", pinnedAt: clock.now() });
      ledger.close();
      ledger.close();
      const again = open();
      assert.deepEqual(again.current(WEB), deployed);
      assert.deepEqual(again.underWay(), [intent]);
      assert.deepEqual(again.failures.get(WEB), failure);
      assert.equal(again.pins.get(WEB)?.revision, "b2");
      again.succeed(intent, {}, "recovered");
      assert.deepEqual(statuses(again), ["2 deployed", "1 deployed"]);
      assert.equal(
        again.open(again.current(WEB) ?? deployed).invocation.environment["TOKEN"],
        CANARY,
      );
    }),
  );

  it(
    "underWay() are oldest first, and the same until they are closed",
    withLedger(async (ledger, { clock }) => {
      const intents: Intent[] = [];
      for (const name of ["z", "a", "m"]) {
        intents.push(ledger.beginDeploy(releaseOf(stackKey("", name), "a1")));
        await clock.advance(10);
      }
      assert.deepEqual(ledger.underWay(), intents);
      ledger.fail(intents[1] ?? assert.fail(), "failed", "x");
      assert.deepEqual(ledger.underWay(), [intents[0], intents[2]]);
    }),
  );

  it(
    "no secret is in any file of the ledger, open or closed",
    withLedger(async (ledger, { path }) => {
      const check = async () => {
        const directory = join(path, "..");
        const names = await readdir(directory);
        for (const name of names) {
          assert.equal((await readFile(join(directory, name))).includes(CANARY), false, name);
        }
        return names;
      };
      const before = deploy(ledger, WEB, "a1");
      ledger.refresh(before, releaseOf(WEB, "b2"), ledger.mark(WEB));
      ledger.moveRevision(before, releaseOf(WEB, "c3"), ledger.mark(WEB));
      ledger.fail(ledger.beginDeploy(releaseOf(WEB, "d4")), "failed", "x");
      assert.ok((await check()).includes("state.db-wal"));
      assert.equal((await readFile(`${path}-wal`)).includes("h.example/o/r"), true);
      ledger.close();
      assert.ok((await check()).includes("state.db"));
      assert.equal((await readFile(path)).includes("h.example/o/r"), true);
    }),
  );

  it(
    "with another instance key the facts can be read and a release cannot be opened",
    withLedger((ledger, { open }) => {
      const before = deploy(ledger, WEB, "a1");
      const other = open({ key: new InstanceKey(new Uint8Array(32).fill(8)) });
      assert.deepEqual(other.current(WEB), before);
      assert.throws(() => other.open(before), (error) => {
        assert.ok(isStackwrightError(error, "ledger_unusable"));
        assert.match(error.message, /instance\.key/);
        return true;
      });
    }),
  );
});

describe("two Ledgers on one file", () => {
  const processes = (own: string, alive: readonly string[]): Processes => ({
    own,
    isAlive: (other) => alive.includes(other),
    enter() {},
    leave() {},
  });

  it(
    "takeUp() makes what an ended process left open this one's, for nobody else, until leave()",
    withLedger((_, { open }) => {
      const alive = ["2:b", "3:c"];
      const about = { trigger: "poll", origin: "automatic", revision: "main (1)" } as const;
      const told = { ...about, kind: "deploy", changes: [], services: [] } as const;
      const before = open({ processes: processes("1:a", ["1:a"]) });
      before.decisions.add(WEB, { ...told, message: "create web" }, new Date(0));
      before.decisions.add(WEB, { ...told, kind: "skip", message: "no changes" }, new Date(1));
      const intent = before.beginDeploy(releaseOf(WEB, "a1"));
      const [one, other] = ["2:b", "3:c"].map((own) =>
        open({ processes: processes(own, alive) })
      ) as [Ledger, Ledger];
      const interrupted = () => other.interrupted().length;
      assert.equal(interrupted(), 1);
      assert.deepEqual(one.takeUp(intent), intent);
      assert.equal(other.takeUp(intent), undefined);
      assert.equal(interrupted(), 0);
      assert.deepEqual(other.interrupted(), []);
      assert.equal(other.heldElsewhere(WEB), "2");
      const outcomes = one.decisions.of(WEB, 9).map(({ outcome }) => outcome?.message ?? "none");
      assert.equal(outcomes[0], "none");
      assert.match(outcomes[1] ?? "", /^interrupted: its process ended before it was done/);
      other.leave(intent);
      assert.equal(interrupted(), 0);
      one.leave(intent);
      assert.deepEqual([interrupted(), other.isCutOff(WEB)], [1, true]);
      // A person may stop the stack while somebody waits to take it up.
      other.stops.set(WEB, new Date(0));
      assert.equal(other.takeUp(intent), undefined);
      other.stops.remove(WEB);
      assert.deepEqual(other.takeUp(intent), intent);
      other.succeed(intent, {}, "done");
      assert.equal(other.takeUp(intent), undefined);
    }),
  );

  it(
    "stop() gives up a removal that was cut off, and none that somebody is at",
    withLedger((_, { open }) => {
      const before = open({ processes: processes("1:a", []) });
      before.beginDestroy(WEB, {});
      const running = open({ processes: processes("2:b", ["2:b"]) });
      const other = stackKey("", "db");
      const intent = running.beginDestroy(other, {});
      const ledger = open({ processes: processes("3:c", ["2:b"]) });
      assert.deepEqual([WEB, other].map((each) => ledger.stop(each)), [true, false]);
      assert.deepEqual(ledger.underWay(), [intent]);
      assert.deepEqual([WEB, other].map((each) => !ledger.stops.get(each)), [false, true]);
    }),
  );

  it(
    "a rollback that starts a stopped stack is taken up, unless a person has stopped it since",
    withLedger((ledger) => {
      const begin = (id: string, starts: boolean) => {
        const begun = ledger.beginDecided(releaseOf(WEB, id), ledger.mark(WEB), { starts });
        assert.ok(begun);
        return begun;
      };
      const cutOff = (id: string, starts: boolean) => {
        ledger.leave(begin(id, starts));
        return ledger.interrupted()[0] ?? assert.fail();
      };
      ledger.stop(WEB);
      assert.equal(ledger.takeUp(cutOff("a1", false)), undefined);
      const intent = cutOff("b2", true);
      assert.deepEqual(ledger.takeUp(intent), intent);
      ledger.leave(intent);
      ledger.stop(WEB);
      // Also for who has read it before.
      assert.equal(ledger.takeUp(intent), undefined);
      ledger.succeed(begin("c3", true), {}, "rolled back");
      assert.equal(ledger.stops.get(WEB), undefined);
    }),
  );

  it(
    "deployed() keeps other processes waiting until tidied(), and is no failure where the process ends before",
    withLedger((_, { open }) => {
      const alive = ["1:a", "2:b"];
      const [one, other] = alive.map((own) => open({ processes: processes(own, alive) })) as [
        Ledger,
        Ledger,
      ];
      const begin = (id: string) => one.beginDeploy(releaseOf(WEB, id));
      const intent = begin("a1");
      one.deployed(intent, {}, "deployed");
      assert.equal(other.current(WEB)?.id, intent.releaseId);
      assert.equal(other.heldElsewhere(WEB), "1");
      one.tidied(intent);
      assert.equal(other.heldElsewhere(WEB), undefined);
      one.deployed(begin("b2"), {}, "deployed");
      alive.shift();
      other.stop(WEB);
      const [left] = other.interrupted();
      assert.equal(left && other.takeUp(left)?.isDone, true);
      other.beginDeploy(releaseOf(WEB, "c3"));
      assert.deepEqual(statuses(other), ["3 applying", "2 deployed", "1 deployed"]);
    }),
  );

  it(
    "what ended while nothing could be written is taken up by the process that did it",
    withLedger((_, { path, open }) => {
      const ledger = open({ processes: processes("1:a", ["1:a"]) });
      const intents = [releaseOf(WEB, "a1"), releaseOf(stackKey("", "db"), "d4")]
        .map((release) => ledger.beginDeploy(release));
      const [deployed, cut] = intents as [Intent, Intent];
      const disk = new DatabaseSync(path);
      disk.exec(
        "CREATE TRIGGER full BEFORE UPDATE ON intents BEGIN SELECT RAISE(FAIL, 'full'); END",
      );
      assert.throws(() => ledger.succeed(deployed, {}, "done"));
      assert.throws(() => ledger.leave(cut));
      assert.deepEqual([WEB, stackKey("", "db")].map((each) => ledger.isCutOff(each)), [
        true,
        true,
      ]);
      disk.exec("DROP TRIGGER full");
      disk.close();
      const taking = () => intents.map((each) => ledger.takeUp(each));
      assert.deepEqual(taking(), intents);
      assert.deepEqual(ledger.interrupted(), []);
    }),
  );

  it(
    "handOver() gives up what an ended process left open on the engine, and nothing else",
    withLedger((_, { open }) => {
      const before = open({ processes: processes("1:a", ["1:a"]) });
      for (const context of ["default", "alias"]) {
        before.owners.noteEngine(context, { id: "a", cluster: "" });
      }
      const alias = stackKey("alias", WEB.name);
      before.owners.settle(alias, { source: "host/a/shop", reference: "" });
      before.beginDestroy(alias, {});
      const there = stackKey("", "there");
      deploy(before, WEB, "a1");
      const source = { kind: "git", url: "https://host/b/shop", name: "host/b/shop" } as const;
      const revision = { source, reference: "refs/heads/main", id: "b3" };
      const [, theirs, kept, rollout] = [
        before.beginDestroy(WEB, { removeVolumes: true }),
        before.beginDeploy(releaseOf(stackKey("", "db"), "b2")),
        before.beginDestroy(there, {}),
        before.beginDeploy(releaseOf(stackKey("", "heirs"), "b3", { revision })),
      ];
      const now = open({ processes: processes("2:b", ["2:b"]) });
      const heir = { source: "host/b/shop", reference: "" };
      now.handOver(WEB, heir, { also: ["alias"] });
      for (const name of ["db", "heirs"]) now.handOver(stackKey("", name), heir);
      const left = () => now.underWay().map(({ id }) => id).sort();
      assert.deepEqual(left(), [kept.id, rollout.id].sort());
      assert.equal(recorded(now, theirs).status, "failed");
      assert.deepEqual(now.owners.get(WEB), { ...heir, adopted: true });
      assert.notEqual(now.current(WEB), undefined);
      const running = now.beginDestroy(WEB, {});
      now.handOver(WEB, heir);
      assert.deepEqual(left(), [kept.id, rollout.id, running.id].sort());
    }),
  );

  it(
    "handOver() gives up what a former owner left, whose good releases alone are moved",
    withLedger((_, { open }) => {
      const before = open({ processes: processes("1:a", ["1:a"]) });
      const { source } = deploy(before, WEB, "a1").revision;
      const left = before.beginDeploy(releaseOf(WEB, "a2"));
      const now = open({ processes: processes("2:b", ["2:b"]) });
      const heir = { source: "host/b/shop", reference: "" };
      now.handOver(WEB, heir, { releasesOf: source.name });
      assert.deepEqual(now.underWay(), []);
      assert.equal(recorded(now, left).status, "failed");
      const whose = now.history(WEB, 9).map((each) => formerOwner(each, heir)?.source);
      assert.deepEqual(whose, [source.name, undefined]);
    }),
  );

  it(
    "each sees what the other wrote, and numbers never clash",
    withLedger((one, { open }) => {
      const two = open();
      for (let round = 0; round < 10; round++) {
        const ledger = round % 2 === 0 ? one : two;
        const { number } = deploy(ledger, WEB, `a${round}`);
        assert.equal(number, round + 1);
        assert.equal((ledger === one ? two : one).current(WEB)?.revision.id, `a${round}`);
      }
    }),
  );

  it(
    "beginDeploy() refuses a stack that a process that runs has in its hands",
    withLedger((_, { open }) => {
      const one = open({ processes: processes("1:a", ["1:a", "2:b"]) });
      const two = open({ processes: processes("2:b", ["1:a", "2:b"]) });
      const intent = one.beginDeploy(releaseOf(WEB, "a1"));
      for (
        const begin of [
          () => two.beginDeploy(releaseOf(WEB, "b2")),
          () => two.beginDestroy(WEB, {}),
        ]
      ) {
        assert.throws(begin, (error) => {
          assert.ok(isStackwrightError(error, "conflict"));
          assert.match(error.message, /another process \(1\) is changing web/);
          return true;
        });
      }
      assert.deepEqual(statuses(two), ["1 applying"]);
      assert.deepEqual(two.interrupted(), []);
      assert.deepEqual(one.underWay(), [intent]);
      two.beginDeploy(releaseOf(stackKey("prod", "web"), "b2"));
      one.succeed(intent, {}, "done");
      two.beginDeploy(releaseOf(WEB, "b2"));
      assert.deepEqual(statuses(one), ["2 applying", "1 deployed"]);
    }),
  );

  it(
    "beginDecided() begins only while nobody else began, ended or pinned anything since",
    withLedger((_, { open }) => {
      const one = open({ processes: processes("1:a", ["1:a", "2:b"]) });
      const two = open({ processes: processes("2:b", ["1:a", "2:b"]) });
      const begin = (since: string) => two.beginDecided(releaseOf(WEB, "b2"), since);
      const first = two.mark(WEB);
      const intent = one.beginDeploy(releaseOf(WEB, "a1"));
      assert.equal(one.heldElsewhere(WEB), undefined);
      assert.equal(two.heldElsewhere(WEB), "1");
      assert.deepEqual([begin(first), begin(two.mark(WEB))], [undefined, undefined]);
      const during = two.mark(WEB);
      one.succeed(intent, {}, "done");
      assert.equal(two.heldElsewhere(WEB), undefined);
      assert.equal(begin(during), undefined);

      const after = two.mark(WEB);
      const releaseId = intent.releaseId ?? "";
      one.pins.set(WEB, { releaseId, revision: "a1", pinnedAt: new Date(1) });
      assert.equal(begin(after), undefined);
      one.pins.remove(WEB);
      assert.deepEqual(statuses(two), ["1 deployed"]);
      assert.equal(two.mark(WEB), after);

      const pin = { releaseId, revision: "b2", pinnedAt: new Date(2) };
      one.beginDeploy(releaseOf(stackKey("prod", "web"), "c3"));
      assert.ok(
        two.beginDecided(releaseOf(WEB, "b2"), after, { pin }),
        "another stack is another one",
      );
      assert.deepEqual(one.pins.get(WEB), pin);
      assert.deepEqual(statuses(one), ["2 applying", "1 deployed"]);
    }),
  );

  it(
    "an intent says what ran when it was begun, also to the process that comes after",
    withLedger((ledger, { open }) => {
      const ranBefore = ["db", "web"];
      ledger.beginDecided(releaseOf(WEB, "a1"), ledger.mark(WEB), { ranBefore });
      assert.deepEqual(open().underWay().map((each) => each.ranBefore), [ranBefore]);
    }),
  );

  describe("what a deployment had stopped and copied that was cut off", () => {
    const NOTES = {
      halted: { c1: { Name: "always", MaximumRetryCount: 0 } },
      copying: ["data"],
      copied: [],
    };
    /** The deployment of `id`, begun while `ran` are running; three services have containers. */
    const begin = (ledger: Ledger, id: string, ...ran: readonly string[]) => {
      const begun = { ranBefore: ran, there: ["db", "web", "more"] };
      const intent = ledger.beginDecided(releaseOf(WEB, id), ledger.mark(WEB), begun);
      assert.ok(intent);
      return intent;
    };
    const cutOff = (ledger: Ledger) => {
      const intent = begin(ledger, "a1", "db", "web");
      ledger.noteAdoption(intent, NOTES);
      return intent;
    };
    const assertHas = (
      { adoption, ranBefore }: Intent,
      had: typeof NOTES | undefined,
      ran: string,
    ) => {
      assert.deepEqual(adoption, had);
      assert.equal(ranBefore.join(" "), ran);
    };
    const ways: Record<string, (ledger: Ledger, intent: Intent) => unknown> = {
      "nobody": () => {},
      "a hand-over": (ledger) => ledger.handOver(WEB, { source: "h/other", reference: "" }),
      "a refusal at the start": (ledger, intent) =>
        ledger.fail(intent, "failed", "interrupted, and"),
      "a removal that fails": (ledger) => ledger.fail(ledger.beginDestroy(WEB, {}), "failed", "no"),
    };
    for (const [by, end] of Object.entries(ways)) {
      it(
        `is the next one's, also of another owner, where it was closed by ${by}`,
        withLedger((ledger, { open }) => {
          deploy(ledger, WEB, "a0");
          const intent = cutOff(ledger);
          const next = open();
          end(next, intent);
          assert.deepEqual(next.ranBefore(WEB), ["db", "web"]);
          const second = begin(next, "b2", "web", "more");
          assertHas(second, NOTES, "db web more");
          next.fail(second, "failed", "no data");
          assertHas(begin(open(), "c3"), NOTES, "db web more");
        }),
      );
    }

    const ends: Record<string, (ledger: Ledger, intent: Intent) => unknown> = {
      "is deployed": (ledger, intent) => ledger.succeed(intent, {}, "done"),
      "is put back": (ledger, intent) => ledger.fail(intent, "rolled_back", "unhealthy"),
      "fails, and all is removed": (ledger, intent) => {
        ledger.fail(intent, "failed", "unhealthy");
        ledger.destroyed(ledger.beginDestroy(WEB, {}), "done");
      },
    };
    for (const [how, end] of Object.entries(ends)) {
      it(
        `is nobody's any more once a later one ${how}`,
        withLedger((ledger) => {
          ledger.fail(cutOff(ledger), "failed", "handed over");
          end(ledger, begin(ledger, "b2"));
          assert.deepEqual(ledger.ranBefore(WEB), []);
          assertHas(begin(ledger, "c3", "web"), undefined, "web");
        }),
      );
    }

    it(
      "is forgotten of services that neither the next release nor a container has",
      withLedger((ledger) => {
        for (const id of ["a1", "b2", "c3"]) {
          const at = { ranBefore: [`of-${id}`], there: ["db", `of-${id}`] };
          const intent = ledger.beginDecided(releaseOf(WEB, id), ledger.mark(WEB), at);
          ledger.fail(intent ?? assert.fail(), "failed", "unhealthy");
        }
        assert.deepEqual(ledger.ranBefore(WEB), ["of-c3"]);
      }),
    );

    it(
      "is what the last one noted: what was half a copy for the first is whole by then",
      withLedger((ledger) => {
        ledger.fail(cutOff(ledger), "failed", "handed over");
        const second = begin(ledger, "b2");
        ledger.noteAdoption(second, { ...NOTES, copying: [] });
        ledger.fail(second, "failed", "handed over again");
        assertHas(begin(ledger, "c3"), { ...NOTES, copying: [] }, "db web");
      }),
    );
  });

  it(
    "a pin goes with the intent that it was made for when that fails, and the one before holds again",
    withLedger((_, { open }) => {
      const one = open({ processes: processes("1:a", ["1:a"]) });
      const first = one.beginDeploy(releaseOf(WEB, "a1"));
      one.succeed(first, {}, "done");
      const releaseId = first.releaseId ?? "";
      const pin = (revision: string) => ({ releaseId, revision, pinnedAt: new Date(1) });
      const begin = (ledger: typeof one, revision: string) => {
        const intent = ledger.beginDecided(releaseOf(WEB, "a1"), ledger.mark(WEB), {
          pin: pin(revision),
        });
        assert.ok(intent);
        assert.deepEqual(ledger.pins.get(WEB), pin(revision));
        return intent;
      };
      one.fail(begin(one, "b2"), "rolled_back", "it did not become healthy");
      assert.equal(one.pins.get(WEB), undefined);
      one.succeed(begin(one, "b2"), {}, "done");
      one.fail(one.beginDeploy(releaseOf(WEB, "c3")), "failed", "another one");
      assert.deepEqual(one.pins.get(WEB), pin("b2"));

      // What a process that was killed left open is ended by the next one.
      const left = begin(one, "c3");
      const two = open({ processes: processes("2:b", ["2:b"]) });
      two.fail(left, "rolled_back", "resumed, and did not become healthy");
      assert.deepEqual(two.pins.get(WEB), pin("b2"));
      begin(two, "d4");
      const three = open({ processes: processes("3:c", ["3:c"]) });
      three.beginDeploy(releaseOf(WEB, "e5"));
      assert.deepEqual(three.pins.get(WEB), pin("b2"));
    }),
  );

  it(
    "what a process that has ended left open is there for the next one",
    withLedger((_, { open }) => {
      const one = open({ processes: processes("1:a", ["1:a"]) });
      const intent = one.beginDeploy(releaseOf(WEB, "a1"));
      const two = open({ processes: processes("2:b", ["2:b"]) });
      assert.deepEqual(two.underWay(), [intent]);
      two.beginDeploy(releaseOf(WEB, "b2"));
      assert.deepEqual(statuses(two), ["2 applying", "1 failed"]);
    }),
  );
});
