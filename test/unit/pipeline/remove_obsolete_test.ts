import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { passesWebhookFilter } from "../../../src/config/mod.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import { stackKey, type TargetListener, type ToldTarget } from "../../../src/model/mod.ts";
import { planObsolete, planOfKept } from "../../../src/pipeline/destroy/plan_obsolete.ts";
import { removeObsolete } from "../../../src/pipeline/remove_obsolete.ts";
import { deleteLeftData, type LeftData } from "../../../src/pipeline/destroy/left_data.ts";
import { createTeller } from "../../../src/tell/mod.ts";
import {
  createLimiter,
  createTurns,
  createWatchedLock,
  systemClock,
} from "../../../src/system/mod.ts";
import { longestStretch } from "../processor_time.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

describe("planOfKept()", () => {
  it("promises no more than that it is kept now, with its data", () => {
    const { message } = planOfKept({ because: "destroy is off" });
    assert.match(message, /and it is kept with its data: destroy is off$/);
  });
});

describe("planObsolete()", () => {
  it("lets other work go on while it tries the webhook filters of hundreds of deployments", async () => {
    const { signal } = new AbortController();
    const turns = createTurns(systemClock);
    const revision = { id: "1", reference: "refs/heads/main", source: { name: "a" } };
    const autoDiscovery = { depth: 1, delete: true, removeVolumes: false, removeImages: false };
    const scans = Array.from({ length: 500 }, (_, at) => {
      const webhookFilter = `${"x?".repeat(200)}${at}`;
      const deployment = { workingDir: `${at}`, autoDiscovery, webhookFilter };
      return { base: { deployment }, revision };
    });
    const run = {
      request: { kind: "git", url: "a", reference: "main", target: "", deployments: [] },
      configuration: revision,
      expansion: { deployments: [], failures: [], scans, left: [] },
      ...{
        trigger: "webhook",
        origin: "automatic",
        deploy: () => Promise.resolve(),
        besidePolls: [],
        isNamedBeside: () => Promise.resolve(false),
        wantedBeside: () => Promise.resolve([]),
        leaves: () => false,
      },
      passes: (filter: string) => turns.take(() => passesWebhookFilter(filter, ["main"]), signal),
    };
    const parts = { ledger: createMemoryLedger(createFakeClock()) } as unknown as PipelineParts;
    const asked = run as unknown as Parameters<typeof planObsolete>[1];
    const longest = await longestStretch(async () => {
      assert.deepEqual((await planObsolete(parts, asked, signal)).removals, []);
    });
    assert.ok(longest < 500, `${longest} ms`);
  });
});

describe("planObsolete(), where a discovery takes too long", () => {
  it("removes nothing, which that one may name, and leaves it to its end to say so", async () => {
    const { parts, run } = createShop();
    const { removals } = await planObsolete(parts, run, signal);
    assert.equal(removals.length, 1);
    const left = { ...run, expansion: { ...run.expansion, left: ["apps of a"] } };
    const planned = await planObsolete(parts, left, signal);
    assert.deepEqual([planned.removals, planned.kept, planned.mass], [[], [], undefined]);
  });
});

describe("removeObsolete(), of a stack that is named by the context of another engine", () => {
  const [here, there] = [stackKey("", "shop"), stackKey("nas", "shop")];
  const unchanged = { kind: "skip", reason: "no_changes", message: "", changes: [], services: [] };
  const ROWS = [
    ["has never deployed it", [here], undefined, "yet"],
    ["deployed it before, and fails now", [here, there], "failed", "as this commit has it"],
    ["deployed it before, and is not asked now", [here, there], undefined, "as this commit has it"],
    ["has deployed it as the run has it", [there, here], "skipped", undefined],
  ] as const;
  for (const [what, begun, status, why] of ROWS) {
    it(`${why === undefined ? "removes" : "keeps"} it where that one ${what}`, async () => {
      const { parts, run } = createShop();
      for (const key of begun) {
        const intent = parts.ledger.beginDeploy(releaseOf(key, "a".repeat(40)));
        parts.ledger.deployed(intent, {}, "");
      }
      const deployment = { context: "nas", name: "shop", destroy: { enabled: false } };
      const expansion = { ...run.expansion, deployments: [{ declared: { deployment } }] };
      const deploy = (listener: TargetListener) => {
        const hear = listener({ key: there } as Parameters<TargetListener>[0]);
        const news = [
          ...status === undefined ? [] : [{ kind: "decided", decision: unchanged }],
          ...status === undefined ? [] : [{ kind: "ended", end: { status, message: "" } }],
        ];
        for (const each of news) hear(each as unknown as Parameters<typeof hear>[0]);
        return Promise.resolve();
      };
      const asked = { ...run, expansion, deploy };
      const said: string[] = [];
      const listener: TargetListener = () => (news) => {
        if (news.kind === "decided") said.push(`${news.decision.kind}: ${news.decision.message}`);
      };
      await removeObsolete(parts, asked as unknown as typeof run, [listener], signal);
      const text = said.join();
      assert.ok(
        why === undefined ? text.startsWith("destroy: ") : text.endsWith(`not deployed it ${why}`),
        text,
      );
    });
  }
});

describe("deleteLeftData()", () => {
  it("keeps the data where a newer commit came while the run's other stacks were deployed", async () => {
    const { parts, run, key, listener, ends } = createShop();
    const { configuration } = run;
    const source = { resolve: () => Promise.resolve({ ...configuration, id: "2" }) };
    const stack = parts.ledger.discovered.get(key);
    const teller = createTeller([listener], { key } as ToldTarget, configuration);
    const left = {
      ...{ stack, teller, configuration, looked: [configuration] },
      ...{ done: "removed: gone", since: "" },
      facts: {
        ...{ removeVolumes: true, removeImages: false, successors: [], complete: true },
        unnamed: { stack, newer: false, covering: [{ policy: stack?.policy, admitted: true }] },
      },
    } as unknown as LeftData;
    const asking = { ...parts, source } as unknown as PipelineParts;
    parts.ledger.discovered.set({ ...left.stack, isLeft: true });
    await deleteLeftData(asking, [left], () => true, signal);
    assert.match(JSON.stringify(ends), /"removed: gone; kept .* \(2\) of a came meanwhile/);
    assert.equal(parts.ledger.discovered.get(key), undefined);
    await deleteLeftData(asking, [left], () => true, signal);
    assert.match(JSON.stringify(ends.at(-1)), /"removed: gone; kept .*: it was changed meanwhile/);
  });
});

describe("removeObsolete()", () => {
  it("looks at many stacks that nothing names, and tells of them, a few in each turn", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const owner = { source: "a", target: "", reference: "refs/heads/main" };
    const policy = { delete: false, removeVolumes: false, removeImages: false };
    for (let at = 0; at < 100; at++) {
      const key = stackKey("", `s${at}`);
      ledger.discovered.set({ key, owner, repository: "a", directory: key.name, policy });
    }
    const [most, now] = [new Map<string, number>(), new Map<string, number>()];
    const count = (what: string) => {
      if (now.size === 0) setTimeout(() => now.clear(), 0);
      now.set(what, (now.get(what) ?? 0) + 1);
      most.set(what, Math.max(most.get(what) ?? 0, now.get(what) ?? 0));
    };
    const { current } = ledger;
    const counted = (key: Parameters<typeof current>[0]) => (count("current"), current(key));
    Object.assign(ledger, { current: counted });
    const secrets = { learned: () => (count("learned"), Promise.resolve()) };
    const revision = { id: "1", reference: "refs/heads/main", source: { name: "a" } };
    const run = {
      request: { kind: "git", url: "a", reference: "main", target: "", deployments: [] },
      configuration: revision,
      expansion: { deployments: [], failures: [], scans: [], left: [] },
      ...{
        trigger: "poll",
        origin: "automatic",
        deploy: () => Promise.resolve(),
        besidePolls: [],
        isNamedBeside: () => Promise.resolve(false),
        wantedBeside: () => Promise.resolve([]),
        leaves: () => false,
      },
    } as unknown as Parameters<typeof removeObsolete>[1];
    const parts = { ledger, secrets } as unknown as PipelineParts;
    const listener = () => () => count("told");
    await removeObsolete(parts, run, [listener], new AbortController().signal);
    assert.deepEqual([...most.keys()].sort(), ["current", "learned", "told"]);
    assert.ok([...most.values()].every((each) => each <= 20), JSON.stringify([...most]));
  });

  it("waits for the secrets of all stacks at once", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    const owner = { source: "a", target: "", reference: "refs/heads/main" };
    const policy = { delete: false, removeVolumes: false, removeImages: false };
    for (const name of ["one", "two", "three"]) {
      ledger.discovered.set({
        key: stackKey("", name),
        owner,
        repository: "a",
        directory: name,
        policy,
      });
    }
    const revision = { id: "1", reference: "refs/heads/main", source: { name: "a" } };
    const run = {
      request: { kind: "git", url: "a", reference: "main", target: "", deployments: [] },
      configuration: revision,
      expansion: { deployments: [], failures: [], scans: [], left: [] },
      ...{
        trigger: "poll",
        origin: "automatic",
        deploy: () => Promise.resolve(),
        besidePolls: [],
        isNamedBeside: () => Promise.resolve(false),
        wantedBeside: () => Promise.resolve([]),
        leaves: () => false,
      },
    } as unknown as Parameters<typeof removeObsolete>[1];
    const known = Promise.withResolvers<void>();
    const asked: string[] = [];
    const secrets = { learned: (stack: string) => (asked.push(stack), known.promise) };
    const parts = { ledger, secrets } as unknown as PipelineParts;
    const done = removeObsolete(parts, run, [], new AbortController().signal);
    await settle();
    assert.equal(asked.length, 3);
    known.resolve();
    assert.deepEqual(await done, []);
  });

  it("ends at a hand-over while it waits for its turn, and the new owner gets the lock", async () => {
    const { parts, run, listener, ends, key, owner, clock } = createShop();
    const { ledger, stackLock } = parts;
    const busy = Promise.withResolvers<void>();
    const other = parts.deploying.run(() => busy.promise, signal);
    const done = removeObsolete(parts, run, [listener], signal);
    await settle();
    assert.ok(stackLock.isBusy("default/shop"));
    ledger.handOver(key, { ...owner, source: "b" });
    await clock.advance(1000);
    await done;
    assert.match(JSON.stringify(ends), /"failed".*shop was handed over to b /);
    assert.equal(ledger.discovered.get(key), undefined);
    busy.resolve();
    await other;
  });

  it("waits for another process as long as a change may take, and does not forget what it did not remove", async () => {
    const { parts, run, listener, ends, key, clock } = createShop();
    const { ledger } = parts;
    Object.assign(ledger, { heldElsewhere: () => "7:1" });
    const done = removeObsolete(parts, run, [listener], signal);
    await clock.advance(14 * 60_000);
    assert.deepEqual(ends, []);
    await clock.advance(2 * 60_000);
    await done;
    assert.match(JSON.stringify(ends), /"failed".*process 7:1 is changing shop/);
    assert.match(JSON.stringify(ends), new RegExp(`"retryAt":"${NEXT_POLL}"`));
    assert.notEqual(ledger.discovered.get(key), undefined);
  });
});

const { signal } = new AbortController();
const NEXT_POLL = "2030-01-01T00:00:00.000Z";

/** The deployment that looks for the stacks, without what nobody asks it for. */
const DISCOVERING = {
  workingDir: ".",
  autoDiscovery: { depth: 1, delete: true, removeVolumes: false, removeImages: false },
  pause: false,
};

/** A stack that was discovered, and a run in which nothing names it any more. */
function createShop() {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  const key = stackKey("", "shop");
  const owner = { source: "a", target: "", reference: "refs/heads/main" };
  ledger.owners.settle(key, owner);
  const policy = { delete: true, removeVolumes: false, removeImages: false };
  ledger.discovered.set({ key, owner, repository: "a", directory: "shop", policy });
  const configuration = { id: "1", reference: owner.reference, source: { name: "a" } };
  const run = {
    request: { kind: "git", url: "a", reference: "main", target: "", deployments: [] },
    configuration,
    expansion: {
      ...{ deployments: [], failures: [], left: [] },
      scans: [{ base: { deployment: DISCOVERING }, revision: configuration }],
    },
    ...{
      trigger: "poll",
      origin: "automatic",
      deploy: () => Promise.resolve(),
      besidePolls: [],
      isNamedBeside: () => Promise.resolve(false),
      wantedBeside: () => Promise.resolve([]),
      leaves: () => false,
    },
  } as unknown as Parameters<typeof removeObsolete>[1];
  const stackLock = createWatchedLock({ clock, version: () => ledger.owners.mark(key) });
  const meter = { move() {}, observe() {}, count() {} };
  const log = createRecordingLog();
  const parts = {
    source: { entries: () => Promise.resolve(new Map()) },
    ...{ ledger, clock, stackLock, meter, log, mentioned: new Set(), listeners: [] },
    windows: { decide: () => ({ allowed: true, windows: [], manualOverride: false }) },
    options: { nextPoll: () => new Date(NEXT_POLL) },
    deploying: createLimiter(1),
    secrets: { learned: () => Promise.resolve() },
    host: { own: () => Promise.resolve(undefined) },
    hosts: { has: () => Promise.resolve(true) },
  } as unknown as PipelineParts;
  const ends: unknown[] = [];
  const hear = ({ kind, ...news }: { readonly kind: string; readonly end?: unknown }) =>
    void (kind === "ended" && ends.push(news.end));
  return { parts, run, listener: (() => hear) as never, ends, key, owner, clock };
}
