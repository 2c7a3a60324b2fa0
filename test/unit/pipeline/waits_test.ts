import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import {
  learnedSoon,
  locked,
  outwaitProcess,
  untilSettled,
  whileIntended,
} from "../../../src/pipeline/waits.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";
import { createRecordingLog, type RecordingLog } from "../../fakes/recording_log.ts";

const never = new AbortController().signal;
const SHOP = stackKey("", "shop");

/** Parts with stacks whose secrets are not known before a test says so. */
function createWorld() {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  const log = createRecordingLog();
  const asked: string[] = [];
  const known = Promise.withResolvers<void>();
  const secrets = {
    learned: (stack: string) => {
      asked.push(stack);
      return known.promise;
    },
  };
  const host = { own: () => Promise.resolve(undefined) };
  const mentioned = new Set<string>();
  const made = { clock, ledger, log, secrets, host, mentioned, stackLock: createWatchedLock() };
  return { parts: made as unknown as PipelineParts, asked, clock, know: known.resolve };
}

describe("locked()", () => {
  it("waits for the secrets of all stacks at once, when it has their locks", async () => {
    const { parts, asked, clock, know } = createWorld();
    const keys = ["a", "b", "c"].map((name) => stackKey("", name));
    const done = locked(parts, keys, () => Promise.resolve("done"), never);
    await clock.advance(0);
    assert.equal(asked.length, 3);
    know();
    assert.equal(await done, "done");
  });
});

describe("learnedSoon()", () => {
  it("lets a person wait for a short time, and says what follows", async () => {
    const { parts, clock } = createWorld();
    const done = learnedSoon(parts, SHOP, never);
    await clock.advance(10_000);
    await done;
    const { lines } = parts.log as RecordingLog;
    assert.match(lines.map(({ message }) => message).join(), /secrets of shop .* shown as \*\*\*/);
  });
});

describe("outwaitProcess()", () => {
  it("tells the log of a long wait, ends it after what a change may take, and does not wait for that one again", async () => {
    const { parts, clock } = createWorld();
    let mark = "one";
    Object.assign(parts.ledger, { heldElsewhere: () => "7:1", mark: () => mark });
    const wait = () => {
      let how = "waits";
      void outwaitProcess(parts, SHOP, () => {}, never)
        .catch(({ code }: { readonly code: string }) => void (how = code));
      return () => how;
    };
    const first = wait();
    await clock.advance(61_000);
    const { lines } = parts.log as RecordingLog;
    assert.match(
      lines.map(({ message }) => message).join(),
      /^waiting for process 7:1, which is changing shop \(60 s\); if process 7:1 is suspended/,
    );
    await clock.advance(13 * 60_000);
    assert.equal(first(), "waits");
    await clock.advance(60_000);
    assert.equal(first(), "conflict");
    const again = wait();
    await clock.advance(0);
    assert.equal(again(), "conflict");
    mark = "two";
    const next = wait();
    await clock.advance(60_000);
    assert.equal(next(), "waits");
    Object.assign(parts.ledger, { heldElsewhere: () => undefined });
    await clock.advance(1000);
    assert.equal(clock.sleepers, 0);
  });
});

describe("whileIntended()", () => {
  it("leaves what ends in the middle to the next look, and nothing that was closed", async () => {
    const { parts } = createWorld();
    const { ledger } = parts;
    const begin = () => ledger.beginDeploy(releaseOf(SHOP, "a1"));
    const intent = begin();
    const fails = () => Promise.reject(new Error("it ends"));
    await assert.rejects(whileIntended(parts, intent, fails, never), /it ends/);
    assert.equal(ledger.isCutOff(SHOP), true);
    ledger.fail(intent, "failed", "closed");
    const closed = begin();
    const closes = () => {
      ledger.fail(closed, "failed", "it is over");
      return fails();
    };
    await assert.rejects(whileIntended(parts, closed, closes, never), /it ends/);
    assert.equal(ledger.isUnderWay(SHOP), false);
  });
});

describe("untilSettled()", () => {
  it("does moved work again, in pauses that grow, and ends with a conflict where that goes on", async () => {
    const { parts, clock } = createWorld();
    const rounds: number[] = [];
    const end = untilSettled(parts, SHOP, (round) => {
      rounds.push(round);
      return Promise.resolve("moved" as const);
    }, never).catch(({ code }: { readonly code: string }) => code);
    await clock.advance(0);
    assert.equal(rounds.length, 3);
    await clock.advance(250);
    assert.equal(rounds.length, 4);
    await clock.advance(60_000);
    assert.equal(await end, "conflict");
    assert.equal(rounds.length, 12);
    const third = (round: number) => Promise.resolve(round === 2 ? "done" : "moved");
    assert.equal(await untilSettled(parts, SHOP, third, never), "done");
  });
});
