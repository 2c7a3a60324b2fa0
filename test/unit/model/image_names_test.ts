import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { upperCaseName } from "../../../src/model/mod.ts";

describe("upperCaseName()", () => {
  const refused = [
    ["App", "App", "app"],
    ["App:1", "App", "app"],
    ["acme/App@sha256:0a", "acme/App", "acme/app"],
    ["ghcr.io/Acme/shop:V1", "Acme/shop", "acme/shop"],
    ["localhost/App", "App", "app"],
    ["Host:5000/a/B", "a/B", "a/b"],
  ] as const;
  for (const [reference, name, better] of refused) {
    it(`says of ${reference} that ${better} is meant`, () => {
      const text = `${name} is no name of an image: it has to be in lower case, ${better}`;
      assert.equal(upperCaseName(reference), text);
    });
  }

  for (
    const reference of [
      "",
      "app",
      "app:V1",
      "ghcr.io/a/b:V1",
      "Docker/app",
      "Host:5000/a",
      "sha256:0a",
    ]
  ) {
    it(`has nothing against ${JSON.stringify(reference)}`, () => {
      assert.equal(upperCaseName(reference), undefined);
    });
  }
});
