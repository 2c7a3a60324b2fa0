import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ReconciliationOptions,
  type Revision,
  type StackKey,
  stackKey,
} from "../../../src/model/mod.ts";
import { type PipelineParts, strayedStacks } from "../../../src/pipeline/mod.ts";
import { abortable } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

const never = new AbortController().signal;
const OPTIONS: ReconciliationOptions = {
  enabled: true,
  events: ["destroy"],
  drift: "repair",
  restartTimeoutSeconds: 1,
  restartSignal: "",
  restartLimit: 5,
  restartWindowSeconds: 300,
};

/** An engine that never answers about containers of the stacks `hung`, and has none of `gone`. */
function setUp(hung: readonly string[], gone: readonly string[]) {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  const log = createRecordingLog();
  const record = (key: StackKey, source: string) => {
    const revision: Revision = {
      source: { kind: "git", url: `https://${source}`, name: source },
      reference: "refs/heads/main",
      id: "1",
    };
    ledger.succeed(ledger.beginDeploy(releaseOf(key, "1", { revision })), {}, "done");
    ledger.reconciliations.settle(key, OPTIONS);
  };
  for (const name of hung) record(stackKey("", name), "host/evil");
  for (const name of gone) record(stackKey("", name), "host/me");
  const engine = createMemoryEngine(hung.map((name) => runningContainer(name, "web")));
  const inspected: string[] = [];
  const inspectContainer = (id: string, signal: AbortSignal) => {
    inspected.push(id);
    return abortable(new Promise<never>(() => {}), signal);
  };
  const secrets = { hide: () => {} };
  const findVolumes = () => Promise.resolve([]);
  const own = () => Promise.resolve(undefined);
  const host = { engine: { ...engine, inspectContainer, findVolumes }, own };
  const parts = { clock, ledger, log, secrets, host, options: {} } as unknown as PipelineParts;
  const all = (signal = never) => strayedStacks(parts, stackKey("", "").context, signal);
  return { clock, log, inspected, all, ledger };
}

describe("strayedStacks()", () => {
  it("finds what is gone beside stacks whose containers cannot be inspected", async () => {
    const { clock, log, inspected, all } = setUp(["a", "b"], ["shop"]);
    const found = all();
    while (clock.sleepers === 0) await settle();
    await clock.advance(10_000);
    assert.deepEqual((await found).map(({ name }) => name), ["shop"]);
    // Its author makes others wait once.
    assert.equal(inspected.length, 1);
    assert.match(
      log.lines.map(({ message }) => message).join(),
      /containers of a could not be inspected: .*within 10 s/,
    );
    assert.equal(clock.sleepers, 0);
  });

  it("asks the ledger about a few stacks in each turn", async () => {
    const { all, ledger } = setUp([], Array.from({ length: 100 }, (_, at) => `s${at}`));
    let [now, most] = [0, 0];
    const { mark } = ledger;
    const counted = (key: StackKey) => {
      if (now === 0) setTimeout(() => now = 0, 0);
      most = Math.max(most, ++now);
      return mark.call(ledger, key);
    };
    Object.assign(ledger, { mark: counted });
    assert.equal((await all()).length, 100);
    assert.ok(most <= 20, `${most}`);
  });

  it("finds what was cut off, also a first release, but in stacks that a person stopped", async () => {
    const { all, ledger } = setUp([], []);
    for (const name of ["first", "stopped"]) {
      ledger.leave(ledger.beginDeploy(releaseOf(stackKey("", name), "1")));
    }
    ledger.stop(stackKey("", "stopped"));
    assert.deepEqual((await all()).map(({ name }) => name), ["first"]);
  });

  it("ends with the signal's reason", async () => {
    const { clock, all } = setUp(["a"], []);
    const stop = new AbortController();
    const found = all(stop.signal);
    found.catch(() => {});
    while (clock.sleepers === 0) await settle();
    await clock.advance(1_000);
    stop.abort(new Error("enough"));
    await assert.rejects(found, /enough/);
  });
});
