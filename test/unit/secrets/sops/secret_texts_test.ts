import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { secretTexts } from "../../../../src/secrets/sops/secret_texts.ts";
import { MOST_OF_AN_OWNER } from "../../../../src/system/mod.ts";

const binary = (text: string) =>
  secretTexts("other", { format: "binary", leaves: [] }, {
    bytes: new TextEncoder().encode(text),
    texts: [],
  });

describe("secretTexts()", () => {
  it("are the values and the long words of a binary file, without quotes around them", () => {
    assert.deepEqual(binary("A='first-value'\nsee 0123456789abcdef"), [
      "first-value",
      "0123456789abcdef",
    ]);
  });

  it("end where there are more than a file may have: megabytes of words take seconds", () => {
    const words = Array.from({ length: 20_000 }, (_, index) => `word-${index}-aB3dE5fG7hJ9k`);
    const found = binary(words.join(" ")).length;
    assert.ok(found > MOST_OF_AN_OWNER && found < MOST_OF_AN_OWNER + 10, String(found));
  });
});
