import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireFewLabels } from "../../../src/prepare/image_labels.ts";

describe("requireFewLabels()", () => {
  const key = { context: "default", name: "shop" };
  const engine = {
    imageLabels: (image: string) =>
      Promise.resolve<Record<string, string>>(
        image === "large" ? { note: "x".repeat(3_000_000) } : { note: "small" },
      ),
  };
  const check = (...images: readonly [image: string, replicas: number][]) =>
    requireFewLabels(
      engine,
      key,
      images.map(([image, replicas]) => ({ image, expectation: { replicas } })),
      new AbortController().signal,
    );

  it("has nothing against what images say of themselves", async () => {
    await check(["small", 900], ["large", 2], ["", 100]);
  });

  it("refuses what would make the list of all containers too long to be read", async () => {
    const refused = {
      code: "unsupported",
      message: /shop: by its images, .* of 9000012 characters/,
    };
    await assert.rejects(check(["large", 3]), refused);
    await assert.rejects(check(["large", 1], ["large", 1], ["large", 1]), refused);
  });
});
