import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ApiKeys, createAuthenticate } from "../../../src/serve/authenticate.ts";

const request = (key?: string) =>
  new Request("http://x/", key === undefined ? {} : { headers: { "X-API-KEY": key } });

const EVERYTHING = ["act", "logs", "read"];

describe("createAuthenticate()", () => {
  const rows: [keys: ApiKeys, key: string | undefined, expected: readonly string[]][] = [
    [{ full: "secret" }, "secret", EVERYTHING],
    [{ full: "secret" }, "Secret", []],
    [{ full: "secret" }, "secre", []],
    [{ full: "secret" }, "secret2", []],
    [{ full: "secret" }, "", []],
    [{ full: "secret" }, undefined, []],
    [{ full: "" }, "", []],
    [{ full: "" }, undefined, []],
    [{ full: undefined, read: "" }, "", []],
    [{ full: "secret", read: "look" }, "look", ["read"]],
    [{ full: "secret", read: "look" }, "secret", EVERYTHING],
    [{ full: "secret", read: "look" }, "other", []],
    [{ full: undefined, read: "look" }, "look", ["read"]],
    [{ full: undefined, read: "look" }, undefined, []],
    [{ full: "same", read: "same" }, "same", EVERYTHING],
  ];
  for (const [keys, key, expected] of rows) {
    it(`gives ${expected.join() || "nothing"} to ${key} with ${JSON.stringify(keys)}`, () => {
      assert.deepEqual([...createAuthenticate(keys)(request(key))].sort(), expected);
    });
  }
});
