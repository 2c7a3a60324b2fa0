import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHalfReplaced } from "../../../src/deploy/mod.ts";
import type { ObservedContainer } from "../../../src/model/mod.ts";

const WAITING: ObservedContainer = {
  id: "2",
  name: "0123456789ab_shop-web-1",
  service: "web",
  state: "created",
  health: "none",
  exitCode: undefined,
  imageId: "sha256:1",
  labels: { "com.docker.compose.replace": "0123456789abcdef" },
};

describe("isHalfReplaced()", () => {
  it("is true of a container that waits to take another one's place", () => {
    assert.equal(isHalfReplaced(WAITING), true);
  });

  const others: readonly (readonly [title: string, change: Partial<ObservedContainer>])[] = [
    ["has its final name", { name: "shop-web-1" }],
    ["was named like that by its author", { labels: {} }],
    ["runs", { state: "running" }],
    ["ran once", { state: "exited", exitCode: 0 }],
  ];
  for (const [title, change] of others) {
    it(`is false when it ${title}`, () => {
      assert.equal(isHalfReplaced({ ...WAITING, ...change }), false);
    });
  }
});
