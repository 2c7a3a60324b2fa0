import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { intervalStarts } from "../../../src/app/interval_starts.ts";
import { type Run, stackKey } from "../../../src/model/mod.ts";

const key = stackKey("", "shop");

describe("intervalStarts()", () => {
  it("finds the newest run of a job and the deployment of its stack, and lists runs once", () => {
    const [older, newer] = [new Date(1000), new Date(2000)];
    const run = (name: string, createdAt: Date) => ({
      repository: `scheduled:${name}`,
      targets: [{ context: "default", stack: "shop", status: "succeeded" }],
      createdAt,
    } as unknown as Run);
    let lists = 0;
    const list = () => {
      lists++;
      return [run("shop-a-1", newer), run("shop-a-1", older), run("shop-c-1", older)];
    };
    const current = () => ({ createdAt: older }) as never;
    const startOf = intervalStarts(() => ({ list }), { current });
    assert.equal(lists, 0);
    const a = startOf({ key, name: "shop-a-1" });
    assert.deepEqual(a, { lastRunAt: newer, deployedAt: older });
    assert.deepEqual(startOf({ key, name: "shop-b-1" }), { deployedAt: older });
    assert.deepEqual(startOf({ key: stackKey("nas", "shop"), name: "shop-a-1" }), {
      deployedAt: older,
    });
    assert.equal(lists, 1);
    assert.deepEqual(
      intervalStarts(() => ({ list }), { current: () => undefined })({
        key,
        name: "shop-b-1",
      }),
      {},
    );
  });
});
