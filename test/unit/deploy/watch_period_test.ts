import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { watchPeriod } from "../../../src/deploy/mod.ts";

describe("watchPeriod()", () => {
  const table: readonly (readonly [unknown, number])[] = [
    [undefined, 2000],
    [{ update_config: { order: "start-first" } }, 2000],
    [{ update_config: { monitor: "15s" } }, 15_000],
    [{ update_config: { monitor: "1m0.5s" } }, 60_500],
    [{ update_config: { monitor: "0s" } }, 0],
    [{ rollback_config: { monitor: "15s" } }, 2000],
  ];
  for (const [deploy, expected] of table) {
    it(`is ${expected} ms with deploy: ${JSON.stringify(deploy)}`, () => {
      const model = { services: { web: deploy === undefined ? {} : { deploy } } };
      assert.equal(watchPeriod(model, "web", 2000), expected);
    });
  }

  it("is that of rollback_config, if any, on the way back", () => {
    const deploy = (rollback: Readonly<Record<string, string>>) => ({
      services: {
        web: { deploy: { update_config: { monitor: "15s" }, rollback_config: rollback } },
      },
    });
    assert.equal(watchPeriod(deploy({ monitor: "4s" }), "web", 2000, "back"), 4000);
    assert.equal(watchPeriod(deploy({ order: "stop-first" }), "web", 2000, "back"), 15_000);
  });

  it("is the default for a service that is not in the model", () => {
    assert.equal(watchPeriod({}, "web", 2000), 2000);
  });
});
