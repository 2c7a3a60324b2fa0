import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createTreeCollector,
  type TreeCollectorParts,
} from "../../../src/pipeline/collect_trees.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const signal = new AbortController().signal;

/** A collector that finds nothing, and how often it looked. */
function createLooking(list: () => void = () => {}) {
  const clock = createFakeClock();
  let looks = 0;
  const trees = {
    list: () => {
      looks++;
      list();
      return Promise.resolve([]);
    },
    pathOf: () => "/data/none",
  };
  const ledger = { releasesUnderWay: () => [], currents: () => [] };
  const files = { list: () => Promise.resolve([]) };
  const parts = { trees, ledger, files, clock, log: createRecordingLog(), dataDir: "/data" };
  const collector = createTreeCollector(parts as unknown as TreeCollectorParts);
  return { clock, looks: () => looks, collect: () => collector.collect(signal) };
}

describe("createTreeCollector()", () => {
  it("does not look at all stacks for every deployment", async () => {
    const { clock, looks, collect } = createLooking();
    await Promise.all([collect(), collect()]);
    await clock.advance(10 * 60 * 1000 - 1);
    await collect();
    assert.equal(looks(), 1);
    await clock.advance(1);
    await collect();
    assert.equal(looks(), 2);
  });

  it("tries again soon when it failed", async () => {
    let fails = true;
    const { looks, collect } = createLooking(() => {
      if (fails) throw new Error("no");
    });
    await collect();
    fails = false;
    await collect();
    await collect();
    assert.equal(looks(), 2);
  });
});
