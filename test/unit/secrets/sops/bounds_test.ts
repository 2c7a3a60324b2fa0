import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { armor, Encrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { ageDataKey } from "../../../../src/secrets/sops/age_keys.ts";
import { checkedValue } from "../../../../src/secrets/sops/cipher.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe("checkedValue()", () => {
  for (
    const [text, expected] of [
      ["+7", "7"],
      ["007", "7"],
      [`+${"9".repeat(99)}`, "9".repeat(99)],
      [`+${"9".repeat(100)}`, `+${"9".repeat(100)}`],
      ["x", "x"],
    ] as const
  ) {
    it(`checks the integer ${text.slice(0, 9)} of ${text.length} characters`, () => {
      assert.equal(textOf(checkedValue({ type: "int", bytes: bytesOf(text) })), expected);
    });
  }
});

describe("ageDataKey()", () => {
  it("tries entries as long as SOPS writes them, and few of them", async () => {
    const identity = await generateIdentity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(identity));
    const enc = armor.encode(await encrypter.encrypt(bytesOf("key")));
    const key = async (encs: readonly string[]) => {
      const found = await ageDataKey(encs.map((each) => ({ recipient: "", enc: each })), [
        identity,
      ]);
      return found && textOf(found);
    };
    assert.equal(await key(["x", enc]), "key");
    assert.equal(await key([enc + "\n".repeat(9000)]), undefined);
    const others = (count: number) => Array.from({ length: count }, () => "x");
    assert.equal(await key([...others(199), enc]), "key");
    assert.equal(await key([...others(200), enc]), undefined);
  });
});
