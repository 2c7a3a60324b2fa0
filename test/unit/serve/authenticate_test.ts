import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAuthenticate } from "../../../src/serve/authenticate.ts";

const request = (key?: string) =>
  new Request("http://x/", key === undefined ? {} : { headers: { "X-API-KEY": key } });

describe("createAuthenticate()", () => {
  const rows: [secret: string, key: string | undefined, expected: boolean][] = [
    ["secret", "secret", true],
    ["secret", "Secret", false],
    ["secret", "secre", false],
    ["secret", "secret2", false],
    ["secret", "", false],
    ["secret", undefined, false],
    ["", "", false],
    ["", undefined, false],
  ];
  for (const [secret, key, expected] of rows) {
    it(`${expected ? "lets in" : "refuses"} ${String(key)} where ${secret || "nothing"} is set`, () => {
      assert.equal(createAuthenticate(secret)(request(key)), expected);
    });
  }
});
