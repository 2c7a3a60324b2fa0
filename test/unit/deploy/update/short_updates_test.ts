import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { requireShortUpdates } from "../../../../src/deploy/mod.ts";

describe("requireShortUpdates()", () => {
  const check = (replicas: number, deploy: Record<string, unknown>) =>
    requireShortUpdates({
      name: "shop",
      services: { web: { image: "a", deploy: { replicas, ...deploy } } },
    });

  const short: [string, number, Record<string, unknown>][] = [
    ["a day of pauses", 2, { update_config: { parallelism: 1, delay: "24h0m0s" } }],
    ["pauses that never come", 1, { update_config: { parallelism: 1, delay: "9999h0m0s" } }],
    ["one lot", 100, { update_config: { parallelism: 0, delay: "9999h0m0s" } }],
    ["a day of watching", 1, { update_config: { monitor: "24h0m0s" } }],
    ["nothing special", 1000, {}],
  ];
  for (const [what, replicas, deploy] of short) {
    it(`takes ${what}`, () => check(replicas, deploy));
  }

  const long: [string, number, Record<string, unknown>][] = [
    ["longer pauses", 2, { update_config: { parallelism: 1, delay: "24h0m1s" } }],
    ["many pauses", 1000, { update_config: { parallelism: 1, delay: "2m0s" } }],
    ["a watch without end", 1, { update_config: { monitor: "100000h0m0s" } }],
    ["many watches", 1000, { update_config: { parallelism: 1, monitor: "2m0s" } }],
    ["a watch without end on the way back", 1, { rollback_config: { monitor: "100000h0m0s" } }],
  ];
  for (const [what, replicas, deploy] of long) {
    it(`refuses ${what}, in which nothing else would have its turn`, () => {
      assert.throws(() => check(replicas, deploy), {
        code: "config_invalid",
        message: /^service web: to replace \d+ lots by deploy\.\w+ takes more than a day/,
      });
    });
  }
});
