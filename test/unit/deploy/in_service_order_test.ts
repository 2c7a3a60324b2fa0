import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inServiceOrder } from "../../../src/deploy/in_service_order.ts";
import { takesAtMost } from "../processor_time.ts";

describe("inServiceOrder()", () => {
  it("sorts by the places of services, those without one first", () => {
    const containers = ["web", "db", "other", "web", "api"].map((service) => ({ service }));
    const order = inServiceOrder(containers, ["db", "api", "web"]).map(({ service }) => service);
    assert.deepEqual(order, ["other", "db", "api", "web", "web"]);
  });

  it("takes as many as an engine may tell of", async () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `s${at}`);
    const containers = names.toReversed().map((service) => ({ service }));
    assert.ok(await takesAtMost(200, () => inServiceOrder(containers, names)));
  });
});
