import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hooksPassedOver, requireHooksRun } from "../../../src/compose/lifecycle_hooks.ts";

const withHook = (web: Record<string, unknown>) => ({ name: "shop", services: { web } });
const POST_START = withHook({ image: "a", post_start: [{ command: ["true"] }] });

describe("requireHooksRun()", () => {
  for (const version of ["2.26.1", "2.26.1-4", "v2.29.7", "1.29.2"]) {
    it(`refuses hooks that compose ${version} does not run`, async () => {
      await assert.rejects(
        requireHooksRun(POST_START, "shop", () => Promise.resolve(version)),
        { code: "unsupported", message: /service web has post_start.*2\.30 or newer/ },
      );
    });
  }

  for (const version of ["2.30.0", "v2.40.3", "5.0.1", "dev"]) {
    it(`leaves hooks to compose ${version}`, async () => {
      await requireHooksRun(POST_START, "shop", () => Promise.resolve(version));
    });
  }

  const passedOver = { pre_stop: [{ command: ["true"] }] };
  for (const web of [{ image: "a" }, { post_start: [] }, { post_start: null }, passedOver]) {
    it(`does not ask for the version with ${JSON.stringify(web)}`, async () => {
      await requireHooksRun(withHook(web), "shop", () => assert.fail("asked"));
    });
  }
});

describe("hooksPassedOver()", () => {
  it("names the services whose pre_stop no version of compose runs for us, and jobs with hooks", () => {
    const hook = [{ command: ["true"] }];
    const services = {
      ...{ a: { pre_stop: hook }, b: { pre_stop: hook, post_start: hook } },
      ...{ c: { pre_start: hook }, d: { post_start: hook }, e: { pre_stop: [] } },
    };
    assert.deepEqual(hooksPassedOver({ name: "shop", services }, new Set(["c", "e"])), [
      "pre_stop of a, b is not run: containers get their stop_signal, and stop_grace_period",
      "pre_start and post_start of c are run when it is deployed, not by runs of the job",
    ]);
    assert.deepEqual(hooksPassedOver({ name: "shop", services: { d: services.d } }, new Set()), []);
  });
});
