import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors, LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";
import type { PipelineParts } from "../../../src/pipeline/mod.ts";
import { clearHandOver, namedBy } from "../../../src/pipeline/owner/clear_hand_over.ts";
import { MOST_FORMER } from "../../../src/record/former_sources.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createMemorySwarm } from "../../fakes/memory_swarm.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const SHOP = stackKey("", "shop");

const thing = (deployed: string | undefined, configuration?: string) => ({
  labels: {
    [LABELS.manager]: MANAGER,
    ...(deployed === undefined ? {} : { [LABELS.sourceName]: deployed }),
    ...(configuration === undefined ? {} : { [LABELS.sourceConfiguration]: configuration }),
  },
});
const named = (...things: Parameters<typeof namedBy>[0][]) => {
  const { configurations, repositories } = namedBy(things.flatMap((each) => [...each]));
  return [[...configurations], [...repositories]];
};

describe("clearHandOver()", () => {
  for (const what of ["objects", "services"] as const) {
    it(`is left to the next look while the swarm has no leader, who tells of no ${what}, and fails nothing`, async () => {
      const [clock, log] = [createFakeClock(), createRecordingLog()];
      const [ledger, engine, key] = [createMemoryLedger(clock), createMemorySwarm(), SHOP];
      ledger.owners.settle(key, { source: "host/a", reference: "" });
      ledger.handOver(key, { source: "host/b", reference: "" });
      const { signal } = new AbortController();
      const leaderless = "500 rpc error: The swarm does not have a leader.";
      const says = () => Promise.reject(errors.engine_refused(leaderless));
      const objects = () => Promise.resolve([]);
      const swarm = { ...engine.swarm, objects, networks: objects };
      const clear = (by: object) => {
        const asked = { ...engine, swarm: { ...swarm, ...by } };
        const host = { engine: asked, info: engine.info, own: () => Promise.resolve(undefined) };
        const made = { clock, log, ledger, host };
        return clearHandOver(made as unknown as PipelineParts, key, signal);
      };
      assert.equal(await clear({ [what]: says, everyService: says }), true);
      assert.equal(ledger.owners.toClear(key), 1);
      assert.match(
        log.lines.map(({ message }) => message).join(),
        /next look .* not have a leader/,
      );
      const broken = () => Promise.reject(errors.engine_refused("500 it is broken"));
      await assert.rejects(clear({ services: broken }), /broken/);
      assert.equal(await clear({}), true);
      assert.equal(ledger.owners.toClear(key), 0);
    });
  }
});

describe("namedBy()", () => {
  it("tells configurations, and the repositories of what names none, doco-cd's too", () => {
    const peers = { labels: { "cd.doco.source.url": "https://me:word@host/them/app.git" } };
    const all = [thing("a", "c"), thing("b"), thing("b", "c"), thing(undefined), peers];
    assert.deepEqual(named([...all, { labels: { [LABELS.sourceName]: "nobodys" } }]), [
      ["c"],
      ["b", "", "https://host/them/app.git"],
    ]);
  });

  it("is of the first ones, as long as a source's name may be, however many an engine makes up", () => {
    const first = Array.from({ length: MOST_FORMER }, (_, at) => `${at}`);
    const more = Array.from({ length: 1000 }, (_, at) => `more ${at}`);
    const long = "x".repeat(5000);
    const all = [long, ...first, ...more];
    assert.deepEqual(
      named(all.map((each) => thing(each)), all.map((each) => thing("a", each))),
      [first, first],
    );
  });
});
