import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { firstInCommon, spelledOnce } from "../../../src/system/mod.ts";

describe("firstInCommon()", () => {
  for (
    const [one, other] of [
      ["10.9.0.0/24", "10.9.0.0/24"],
      ["10.9.0.0/24", "10.9.0.128/25"],
      ["10.9.0.7/24", "10.8.0.0/15"],
      ["10.0.0.0/9", "10.8.0.0/15"],
      ["fd00::/64", "fd00:0:0:0:0:0:1::/112"],
    ] as const
  ) {
    it(`tells those that have addresses in common: ${one}, ${other}`, () => {
      assert.deepEqual(firstInCommon(["10.1.0.0/16", one], ["172.2.0.0/16", other]), {
        one,
        other,
      });
      assert.deepEqual(firstInCommon([other], [one]), { one: other, other: one });
    });
  }

  for (
    const [one, other] of [
      ["10.9.0.0/24", "10.9.1.0/24"],
      ["fd00::/8", "10.9.1.0/24"],
      ["10.9.0.0/33", "10.9.0.0/24"],
      ["10.9.0.0", "10.9.0.0/24"],
      ["", ""],
      ["fd00::/129", "fd00::/64"],
      ["999.1.1.1/8", "0.0.0.0/0"],
    ] as const
  ) {
    it(`tells nothing of others: ${one}, ${other}`, () => {
      assert.equal(firstInCommon([one], [other]), undefined);
      assert.equal(firstInCommon([other], [one]), undefined);
    });
  }

  it("takes a while for each of many, not for each pair", () => {
    const many = (first: number) =>
      Array.from({ length: 2000 }, (_, at) => `${first}.${at >> 8}.${at & 255}.0/24`);
    assert.equal(firstInCommon(many(10), many(11)), undefined);
  });
});

describe("spelledOnce()", () => {
  for (
    const [text, spelled] of [
      ["127.0.0.1", "127.0.0.1"],
      ["0:0:0:0:0:0:0:1", "::1"],
      ["FD12:3456:0:0::0011", "fd12:3456::11"],
      ["::ffff:127.0.0.1", "127.0.0.1"],
      ["::FFFF:7f00:1", "127.0.0.1"],
      ["::ffff:0:0", "0.0.0.0"],
      ["0::0", "::"],
      // The engine publishes at all addresses for these.
      ["", undefined],
      ["localhost", undefined],
      ["127.1", undefined],
      ["0127.0.0.1", undefined],
      ["[::1]", undefined],
      ["::1%lo", undefined],
    ] as const
  ) {
    it(`is ${spelled} for ${JSON.stringify(text)}`, () => assert.equal(spelledOnce(text), spelled));
  }
});
