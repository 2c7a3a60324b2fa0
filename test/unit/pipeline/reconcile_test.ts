import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Revision, stackKey } from "../../../src/model/mod.ts";
import { type PipelineParts, reconcile } from "../../../src/pipeline/mod.ts";
import {
  boundFairly,
  createWatchedLock,
  NO_SLOT,
  type WatchedLock,
} from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

const KEY = stackKey("", "shop");

describe("reconcile()", () => {
  it("waits for another process without the lock, so that who comes later can say so", async () => {
    let isLocked = false;
    const stackLock: WatchedLock = {
      ...createWatchedLock(),
      async run(_key, work) {
        isLocked = true;
        return await work(NO_SLOT).finally(() => void (isLocked = false));
      },
    };
    const seen: unknown[] = [];
    let other: string | undefined = "7:1";
    const clock = {
      now: () => new Date(0),
      uptime: () => 0,
      sleep() {
        seen.push(["sleeps", isLocked]);
        other = undefined;
        return Promise.resolve();
      },
    };
    const ledger = createMemoryLedger(clock);
    const heldElsewhere = () => {
      seen.push([other, isLocked]);
      return other;
    };
    Object.assign(ledger, { heldElsewhere });
    const secrets = { learned: () => Promise.resolve() } as unknown as PipelineParts["secrets"];
    const parts: Partial<PipelineParts> = { stackLock, clock, ledger, secrets };
    const never = new AbortController().signal;
    const end = await reconcile(
      parts as PipelineParts,
      KEY,
      () => ({ heard: undefined, retryMs: 1 }),
      never,
    );
    assert.equal(end, "settled");
    assert.deepEqual(seen, [
      ["7:1", false],
      ["sleeps", false],
      [undefined, false],
      // Another process may have begun while this one stood in line.
      [undefined, true],
    ]);
  });

  it("looks at few stacks of a source at once, so that another's is looked at beside them", async () => {
    const [clock, log] = [createFakeClock(), createRecordingLog()];
    const ledger = createMemoryLedger(clock);
    const looked: string[] = [];
    const end = Promise.withResolvers<void>();
    const engine = createMemoryEngine([]);
    const listContainers: typeof engine.listContainers = async (...asked) => {
      const text = JSON.stringify(asked[0]);
      looked.push(text.includes("mine") ? "mine" : "theirs");
      if (!text.includes("mine")) await end.promise;
      return [];
    };
    const parts = {
      ...{ clock, ledger, log, stackLock: createWatchedLock(), looks: boundFairly(8, 2) },
      secrets: { learned: () => Promise.resolve(), hide: () => {} },
      host: { engine: { ...engine, listContainers }, own: () => Promise.resolve(undefined) },
      options: {},
    } as unknown as PipelineParts;
    const { signal } = new AbortController();
    const look = async (name: string, source: string) => {
      const key = stackKey("", name);
      const revision: Revision = {
        source: { kind: "git", url: `https://${source}`, name: source },
        reference: "refs/heads/main",
        id: "1",
      };
      const release = { ...releaseOf(key, "1", { revision }), services: [] };
      ledger.succeed(ledger.beginDeploy(release), {}, "done");
      ledger.reconciliations.settle(key, OPTIONS);
      return await reconcile(parts, key, () => ({ heard: undefined, retryMs: 1 }), signal);
    };
    const theirs = Array.from({ length: 20 }, (_, at) => look(`their-${at}`, "host/evil"));
    await settle();
    assert.deepEqual(looked, ["theirs", "theirs"]);
    assert.equal(await look("mine", "host/me"), "settled");
    end.resolve();
    await Promise.all(theirs);
    assert.equal(looked.filter((each) => each === "theirs").length, 20);
  });
});

const OPTIONS = {
  enabled: true,
  events: ["die"],
  drift: "ignore",
  restartTimeoutSeconds: 1,
  restartSignal: "",
  restartLimit: 5,
  restartWindowSeconds: 300,
} as const;
