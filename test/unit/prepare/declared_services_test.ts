import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DeclaredServices, inactiveServices } from "../../../src/prepare/declared_services.ts";

const KEY = { context: "default", name: "shop" };

describe("DeclaredServices", () => {
  it("has those of the files and of what they include, in a circle, too, and no others", () => {
    const declared = new DeclaredServices();
    declared.noteServices("a", { services: ["web"], reset: [] });
    declared.noteServices("b", { services: ["db", "web"], reset: [] });
    declared.noteServices("c", { services: ["job"], reset: [] });
    declared.noteServices("extended", { services: ["base"], reset: [] });
    declared.noteIncluded("a", ["b", "missing"]);
    declared.noteIncluded("a", ["c"]);
    declared.noteIncluded("c", ["a"]);
    assert.deepEqual([...declared.in(["a"])].sort(), ["db", "job", "web"]);
    assert.deepEqual([...declared.in(["b"])], ["db", "web"]);
  });

  it("leaves out services that a later file takes back, also included ones, and has what comes after", () => {
    const declared = new DeclaredServices();
    declared.noteServices("base", { services: ["app", "db"], reset: [] });
    declared.noteServices("side", { services: ["tool"], reset: [] });
    declared.noteServices("over", { services: [], reset: ["db", "tool"] });
    declared.noteIncluded("base", ["side"]);
    assert.deepEqual([...declared.in(["base", "over"])], ["app"]);
    assert.deepEqual([...declared.in(["over", "base"])], ["app", "db", "tool"]);
  });
});

describe("inactiveServices()", () => {
  const model = { services: { web: {} } };

  it("tells what the model does not have, without what is no name of a service", () => {
    const all = new Set(["web", "toString", "db", "<<", "", "a b"]);
    assert.deepEqual(inactiveServices(model, all, KEY), ["db", "toString"]);
  });

  it("refuses more than a model may have", () => {
    const all = (count: number) => new Set(Array.from({ length: count }, (_, at) => `s${at}`));
    assert.equal(inactiveServices(model, all(500), KEY).length, 500);
    assert.throws(() => inactiveServices(model, all(501), KEY), {
      code: "config_invalid",
      message: /^deployment shop: 501 services .* not active, the most is 500$/,
    });
  });
});
