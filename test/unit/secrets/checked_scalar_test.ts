import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Scalar } from "yaml";
import { checkedScalar } from "../../../src/secrets/sops/checked_scalar.ts";

describe("checkedScalar()", () => {
  const checked = (source: string) => {
    const scalar = new Scalar(source);
    scalar.type = "PLAIN";
    scalar.source = source;
    return checkedScalar(scalar);
  };

  it("writes integers as Go does", () => {
    assert.deepEqual(["0x1F", "-0o17", "017", "1_000", "-0", `${2n ** 63n}`].map(checked), [
      "31",
      "-15",
      "15",
      "1000",
      "0",
      "9223372036854775808",
    ]);
  });

  // To turn this many digits into an integer and back would take half a minute.
  it("does not calculate with millions of digits", () => {
    const digits = "9".repeat(16_000_000);
    assert.equal(checked(digits), "+Inf");
    assert.equal(checked(`-${digits}`), "-Inf");
    assert.equal(checked(`0x${digits}`), `0x${digits}`);
  });
});
