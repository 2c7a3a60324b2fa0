import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { followedPaths } from "../../../src/deploy/mod.ts";

describe("followedPaths()", () => {
  const rows: readonly (readonly [string, Record<string, unknown>, RegExp | undefined])[] = [
    ["nothing special", { image: "a" }, undefined],
    ["a provider", { provider: { type: "x" } }, /web: provider/],
    ["the engine with our credentials", { use_api_socket: true }, /web: use_api_socket/],
    ["not the engine", { use_api_socket: false }, undefined],
    ["keys for a build", { build: { context: "/c", ssh: ["a=/root/.ssh/id"] } }, /web: build ssh/],
  ];
  for (const [what, web, expected] of rows) {
    it(`followedPaths() ${expected === undefined ? "lets pass" : "refuses"} ${what}`, () => {
      const { refused } = followedPaths({ services: { web } });
      assert.equal(refused.length, expected === undefined ? 0 : 1, refused.join());
      if (expected !== undefined) assert.match(refused[0] ?? "", expected);
    });
  }
});
