import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireHooksRun } from "../../../src/compose/lifecycle_hooks.ts";

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

  it("refuses pre_stop as well", async () => {
    const model = withHook({ pre_stop: [{ command: ["true"] }] });
    await assert.rejects(
      requireHooksRun(model, "shop", () => Promise.resolve("2.26.1")),
      /service web has pre_stop/,
    );
  });

  for (const web of [{ image: "a" }, { post_start: [] }, { post_start: null }]) {
    it(`does not ask for the version with ${JSON.stringify(web)}`, async () => {
      await requireHooksRun(withHook(web), "shop", () => assert.fail("asked"));
    });
  }
});
