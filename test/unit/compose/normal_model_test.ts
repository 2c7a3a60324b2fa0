import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bindsSay,
  makesPathsByDefault,
  normalModel,
  withExplicitBinds,
} from "../../../src/compose/normal_model.ts";

const model = (...binds: (Record<string, unknown> | undefined)[]) => ({
  name: "shop",
  services: {
    web: {
      image: "a",
      volumes: binds.map((bind, index) => ({
        type: "bind",
        source: `/s${index}`,
        ...(bind === undefined ? {} : { bind }),
      })),
    },
  },
});
const MADE = { create_host_path: true };

describe("binds of a printed model", () => {
  it("mean the same in the shapes of compose 2 and of compose 5", () => {
    // A short mount, one with create_host_path: false, and one with another option.
    const two = model(MADE, {}, { ...MADE, propagation: "rslave" });
    const five = model({}, { create_host_path: false }, { propagation: "rslave" });
    assert.equal(bindsSay(two), "false");
    assert.equal(bindsSay(five), "true");
    assert.deepEqual(normalModel(five, true), two);
    assert.deepEqual(normalModel(two, false), two);
  });

  it("are unclear where only the version tells", () => {
    assert.equal(bindsSay(model({})), "unclear");
    assert.equal(bindsSay(model()), "nothing");
    assert.equal(bindsSay(model(undefined)), "nothing");
    for (const [version, expected] of [["2.26.1-4", false], ["v2.40.3", false], ["5.5.0", true]]) {
      assert.equal(makesPathsByDefault(String(version)), expected, String(version));
    }
    assert.deepEqual(normalModel(model({}), true), model(MADE));
    assert.deepEqual(normalModel(model({}), false), model({}));
  });

  it("say for themselves what they mean when they are handed back", () => {
    assert.deepEqual(
      withExplicitBinds(model(MADE, {}, undefined)),
      model(MADE, { create_host_path: false }, undefined),
    );
  });
});

describe("dependencies of a printed model", () => {
  it("are those that exist; one that is required and missing is left to compose", () => {
    const services = (depends_on: unknown) => ({ services: { web: { depends_on }, db: {} } });
    const optional = { condition: "service_started", required: false };
    const required = { condition: "service_started", required: true };
    assert.deepEqual(
      normalModel(services({ off: optional, db: optional, gone: required }), false),
      services({ db: optional, gone: required }),
    );
    assert.deepEqual(normalModel(services({ off: optional }), false), {
      services: { web: {}, db: {} },
    });
  });
});

describe("files of labels and variables in a printed model", () => {
  it("are what they say alone: compose 5 prints their paths, and would read them again", () => {
    const web = { image: "a", labels: { tier: "front" }, environment: { MODE: "fast" } };
    const files = { label_file: ["/trees/4f1c/l.env"], env_file: [{ path: "/trees/4f1c/.env" }] };
    const printed = { services: { web: { ...web, ...files } } };
    assert.deepEqual(normalModel(printed, true), { services: { web } });
  });
});
