import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { badImages } from "../../../src/config/built_services.ts";
import { readCompose } from "../../../src/config/compose_text.ts";

/** What is found in files of one project while the profile `on` is active, with its place. */
function found(...texts: readonly string[]) {
  const files = texts.map((text, at) => ({ ...readCompose(text, `${at}.yaml`), base: "." }));
  return badImages(files, { names: ["on"], isMore: false });
}

describe("badImages()", () => {
  it("finds names of images that no engine takes, with their position", () => {
    const text = "services:\n  web:\n    image: ghcr.io/Acme/shop:1\n  db: {image: 'a/b:V1'}\n";
    assert.deepEqual(found(text), [{
      file: "0.yaml",
      path: "services.web.image",
      line: 3,
      column: 12,
      message: "ghcr.io/Acme/shop:1 is no name of an image: all but its registry, tag and digest " +
        "has to be in lower case",
    }]);
    const [spaced] = found("services: {a: {image: 'n7 web:1', profiles: [on]}}");
    assert.match(spaced?.message ?? "", /n7 web:1 is no name of an image: it has a space/);
  });

  it("leaves alone what is off, has variables, or is replaced by a later file", () => {
    assert.deepEqual(found("services: {a: {image: 'A b', profiles: [off]}}"), []);
    assert.deepEqual(found("services: {a: {image: $A/B}}"), []);
    assert.deepEqual(found("services: {a: {image: A:1}}", "services: {a: {image: 'a:1'}}"), []);
    assert.equal(found("services: {a: {image: a:1}}", "services: {a: {image: A:1}}").length, 1);
  });
});
