import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceName, resourcesOf } from "../../../src/compose/resources.ts";

describe("resourcesOf()", () => {
  const model = {
    services: {},
    networks: { front: { name: "shop_front" }, theirs: { external: true }, plain: null },
  };

  it("gives each its key, its name on the engine and whose it is", () => {
    assert.deepEqual(
      resourcesOf(model, "networks").map(({ key, name, external }) => [key, name, external]),
      [["front", "shop_front", false], ["theirs", "theirs", true], ["plain", "plain", false]],
    );
  });

  it("has none where a model has none", () => {
    assert.deepEqual(resourcesOf(model, "volumes"), []);
  });

  it("names one that is not defined by its key", () => {
    assert.equal(resourceName(model, "networks", "front"), "shop_front");
    assert.equal(resourceName(model, "networks", "constructor"), "constructor");
  });
});
