import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pathName } from "../../../src/docker/api.ts";

describe("pathName()", () => {
  it("keeps the slashes of images, and escapes everything else that a path has", () => {
    assert.equal(pathName("r.example:5000/a/b:1"), "r.example%3A5000/a/b%3A1");
    assert.equal(pathName("x?all=1#y z"), "x%3Fall%3D1%23y%20z");
    assert.equal(pathName("..a/.b/c.."), "..a/.b/c..");
  });
  for (const name of ["../../info", "a/../b", "..", ".", "a/.", "./a"]) {
    it(`throws for ${name}, which leads to another path`, () => {
      assert.throws(() => pathName(name), {
        code: "config_invalid",
        message: /^".*" is no name that/,
      });
    });
  }
});
