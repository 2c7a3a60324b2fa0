import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findOldData } from "../../../src/deploy/old_data.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import type { ComposeModel, ObservedContainer } from "../../../src/model/mod.ts";

const MOST_AT_ONCE = 10;

describe("findOldData()", () => {
  it("inspects containers a few at a time: an engine may tell of thousands", async () => {
    let [now, most, asked] = [0, 0, 0];
    const engine = {
      async inspectContainer() {
        asked++;
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 0));
        now--;
        return undefined;
      },
    } as unknown as Engine;
    const containers = Array.from(
      { length: 200 },
      (_, at) => ({ id: `${at}`, labels: {} }),
    ) as unknown as ObservedContainer[];
    const place = { model: { services: {} } as ComposeModel, hostLive: "/live" };
    await findOldData(engine, place, { containers }, new AbortController().signal);
    assert.equal(asked, containers.length);
    assert.ok(most <= MOST_AT_ONCE, `${most} at once`);
  });
});
