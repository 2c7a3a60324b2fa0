import assert from "node:assert/strict";
import { it } from "node:test";
import { type ObservedContainer, stackKey } from "../../../src/model/mod.ts";
import { restartLoops } from "../../../src/plan/mod.ts";
import { tellSuppressed } from "../../../src/tell/tell_suppressed.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

it("a container whose health goes to and fro is warned of once, and does not run well meanwhile", async () => {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  const log = createRecordingLog();
  const key = stackKey("", "shop");
  const container = (id: string) => ({ id, name: `shop-${id}-1` }) as ObservedContainer;
  const flap = (...ids: string[]) =>
    tellSuppressed(
      { log, meter: { count() {} }, clock, ledger },
      releaseOf(key, "1"),
      { restartLimit: 2, restartWindowSeconds: 60 },
      ids.map(container),
    );
  const warned = () => log.lines.length;
  const unwell = () =>
    restartLoops(ledger.reconciliations.drift(key), clock.now()).map(({ id, said }) => [id, said]);
  for (let flaps = 0; flaps < 5; flaps++) {
    flap("web");
    await clock.advance(300_000);
  }
  assert.equal(warned(), 1);
  const said = "shop-web-1 became unhealthy 300 s ago, and is left alone after too many restarts";
  assert.deepEqual(unwell(), [["web", said]]);
  flap("db", "web");
  assert.equal(warned(), 2);
  assert.deepEqual(unwell().map(([id]) => id), ["web", "db"]);
  ledger.reconciliations.noteDrift(key, { count: 0, fields: [], tried: [] });
  assert.equal(unwell().length, 2, "a look for drift forgets none");
  await clock.advance(700_000);
  assert.deepEqual(unwell(), []);
  flap("web");
  assert.equal(warned(), 3);
});
