import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ComposeModel, errors } from "../../../src/model/mod.ts";
import { RenderedModels, type RenderingInputs } from "../../../src/prepare/rendered_models.ts";

const OLD = "/data/trees/sha1-1111";
const NEW = "/data/trees/sha1-2222";

function inputs(tree: string, change: Partial<RenderingInputs["call"]> = {}, id = "a1") {
  const project = {
    name: "shop",
    directory: `${tree}/app`,
    files: [`${tree}/app/compose.yaml`],
    envFiles: ["/dev/null"],
    profiles: [],
  };
  return {
    call: { project, variables: { TAG: "1" }, ...change },
    sources: ["host/me/app", "host/me/app"],
    contents: new Map([["app/compose.yaml", `file:${id}`]]),
    trees: [tree],
  };
}

const model = (tree: string) => ({
  services: { web: { image: "web", volumes: [{ source: `${tree}/app/page` }] } },
});

describe("RenderedModels", () => {
  it("has a model again for another tree with the same inputs, with its paths", () => {
    const models = new RenderedModels();
    models.keep(inputs(OLD), model(OLD));
    assert.deepEqual(models.find(inputs(NEW)), model(NEW));
  });

  it("has none where what was kept is no model, and no empty one", () => {
    const models = new RenderedModels();
    models.keep(inputs(OLD), [] as unknown as ComposeModel);
    assert.equal(models.find(inputs(NEW)), undefined);
  });

  const others: [string, RenderingInputs][] = [
    ["a file", inputs(NEW, {}, "b2")],
    ["the repository", { ...inputs(NEW), sources: ["host/them/app", "host/me/app"] }],
    ["the configuration's", { ...inputs(NEW), sources: ["host/me/app", "host/them/app"] }],
    ["a variable", inputs(NEW, { variables: { TAG: "2" } })],
    ["a profile", inputs(NEW, { project: { ...inputs(NEW).call.project, profiles: ["x"] } })],
    ["the name", inputs(NEW, { project: { ...inputs(NEW).call.project, name: "b" } })],
  ];
  for (const [what, other] of others) {
    it(`has none where ${what} differs`, () => {
      const models = new RenderedModels();
      models.keep(inputs(OLD), model(OLD));
      assert.equal(models.find(other), undefined);
    });
  }

  it("does not keep what has the tree in it in another form", () => {
    const models = new RenderedModels();
    models.keep(inputs(OLD), model("/mnt/real/trees/sha1-1111"));
    assert.equal(models.find(inputs(OLD)), undefined);
  });

  it("does not hand out what somebody changed", () => {
    const models = new RenderedModels();
    const first = model(OLD);
    models.keep(inputs(OLD), first);
    first.services.web.image = "changed";
    const second = models.find(inputs(OLD));
    assert.deepEqual(second, model(OLD));
  });

  it("forgets the oldest when it holds too much", () => {
    const models = new RenderedModels();
    const big = { services: { web: { image: "x".repeat(6 * 1024 * 1024) } } };
    for (const id of ["1", "2", "3"]) models.keep(inputs(OLD, {}, id), big);
    const found = ["1", "2", "3"].map((id) => models.find(inputs(NEW, {}, id)) !== undefined);
    assert.deepEqual(found, [false, true, true]);
  });

  it("keeps a rendering from being tried that took too much, until half an hour has gone by", () => {
    const models = new RenderedModels();
    const now = new Date("2026-03-10T11:00:00Z");
    const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
    models.keepFailure(inputs(OLD), errors.render_failed("no such file"), now);
    models.requireNotFailed(inputs(NEW), now);
    models.keepFailure(inputs(OLD), errors.render_failed("too long", { tookTooMuch: true }), now);
    const told =
      /^too long; as nothing has changed since, .* before 2026-03-10T11:30Z, unless you ask/;
    const tried = () => models.requireNotFailed(inputs(NEW), later(29));
    assert.throws(tried, { code: "render_failed", message: told });
    models.requireNotFailed(inputs(NEW, {}, "b2"), now);
    models.requireNotFailed({ ...inputs(NEW), sources: ["host/them/app", "host/me/app"] }, now);
    models.requireNotFailed(inputs(NEW), later(30));
  });
});
