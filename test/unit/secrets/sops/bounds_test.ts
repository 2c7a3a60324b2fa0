import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  armor,
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateIdentity,
  generateX25519Identity,
  identityToRecipient,
} from "age-encryption";
import { createSops } from "../../../../src/secrets/mod.ts";
import { createAgeKeys } from "../../../../src/secrets/sops/age_keys.ts";
import { checkedValue } from "../../../../src/secrets/sops/cipher.ts";
import { readSopsText } from "../../../../src/secrets/sops/detect.ts";
import { SopsFormatError } from "../../../../src/secrets/sops/sops_text.ts";
import { createRedactor, createTurns, systemClock } from "../../../../src/system/mod.ts";
import {
  createAgeKeys as createTestKeys,
  encryptJson,
  encryptYaml,
} from "../../../fakes/sops_encryptor.ts";

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

/** Counts how often `work` tries an entry, and the stanzas in these. */
async function triesOf(work: () => Promise<unknown>) {
  const own = Decrypter.prototype as unknown as { unwrapFileKey: (of: unknown[]) => unknown };
  const { unwrapFileKey } = own;
  const tried: number[] = [];
  own.unwrapFileKey = function (stanzas) {
    tried.push(stanzas.length);
    return unwrapFileKey.call(this, stanzas);
  };
  try {
    await work();
  } finally {
    own.unwrapFileKey = unwrapFileKey;
  }
  return tried;
}

async function entryFor(...recipients: readonly string[]) {
  const encrypter = new Encrypter();
  for (const each of recipients) encrypter.addRecipient(each);
  return armor.encode(await encrypter.encrypt(bytesOf("0123456789abcdef0123456789abcdef")));
}

describe("age keys", () => {
  const key = "0123456789abcdef0123456789abcdef";

  for (
    const [kind, generate] of [
      ["usual", generateX25519Identity],
      ["post-quantum", generateHybridIdentity],
    ] as const
  ) {
    it(`find the data key of a ${kind} recipient among others`, async () => {
      const [identity, another] = [await generate(), await generate()];
      const recipient = await identityToRecipient(identity);
      const other = await identityToRecipient(another);
      const dataKey = createAgeKeys(["AGE-SECRET-KEY-1MISTYPED", another, identity]);
      const entry = { recipient, enc: await entryFor(recipient) };
      const found = await dataKey([{ recipient: other, enc: "damaged" }, entry]);
      assert.equal(found && textOf(found), key);
      const tried = await triesOf(() => dataKey([{ recipient: other, enc: entry.enc }, entry]));
      assert.deepEqual(tried, [1, 1]);
    });
  }

  it("try an entry for each identity, however many are in a file", async () => {
    const identities = [await generateIdentity(), await generateIdentity()];
    const others = [await generateIdentity(), await generateIdentity()];
    const [a, b] = await Promise.all(identities.map(identityToRecipient));
    const [c] = await Promise.all(others.map(identityToRecipient));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const enc = await entryFor(c);
    const hostile = Array.from({ length: 300 }, (_, index) => ({
      recipient: [a, b, c][index % 3] ?? "",
      enc,
    }));
    const dataKey = createAgeKeys(identities);
    assert.deepEqual(await triesOf(() => dataKey(hostile)), [1, 1]);
  });

  it("leave out entries with more stanzas or characters than SOPS writes", async () => {
    const identity = await generateIdentity();
    const recipient = await identityToRecipient(identity);
    const dataKey = createAgeKeys([identity]);
    const two = await entryFor(recipient, recipient);
    assert.ok(await dataKey([{ recipient, enc: two }]));
    const enc = await entryFor(recipient, recipient, recipient);
    const long = (await entryFor(recipient)) + "\n".repeat(5000);
    const tried = await triesOf(async () => {
      assert.equal(await dataKey([{ recipient, enc }]), undefined);
      assert.equal(await dataKey([{ recipient, enc: long }]), undefined);
    });
    assert.deepEqual(tried, []);
  });
});

describe("keys with long names", () => {
  const read = (text: string) => readSopsText("json", bytesOf(text));
  const sealed = (name: string, count: number) =>
    encryptJson({
      [name]: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "secret"])),
    }, { recipients: [] });

  it("count for each value below them", async () => {
    assert.equal(read(await sealed("a".repeat(200_000), 80))?.leaves.length, 80);
    const text = await sealed("a".repeat(200_000), 84);
    assert.throws(() => read(text), /^SopsFormatError: the names of the keys .* 16777216 /);
  });

  it("count for each comment that may be below them", async () => {
    const text = await encryptYaml({ a: "secret" }, { recipients: [] });
    const keys = Array.from({ length: 50 }, (_, at) => `"${at}${"a".repeat(8000)}": `);
    const nested = `b: {${keys.join("{")}1${"}".repeat(50)}\n`;
    const comment = "#ENC[AES256_GCM,data:aaaa,iv:aaaa,tag:aaaa,type:comment]\n";
    const withComments = (count: number) =>
      readSopsText("yaml", bytesOf(nested + comment.repeat(count) + text));
    assert.equal(withComments(1)?.comments.length, 1);
    assert.throws(() => withComments(2), /^SopsFormatError: the names of the keys .* comments/);
  });
});

describe("a file that cannot be decrypted", () => {
  const never = new AbortController().signal;

  it("is tried once, also under another name, unless a program asked for its key", async () => {
    const own = await createTestKeys();
    const text = await encryptYaml({ a: "secret" }, { recipients: [own.recipient] });
    // Its value does not fit its tag.
    const bytes = bytesOf(text.replace(/ENC\[AES256_GCM,data:/, "$&AAAA"));
    let asked = 0;
    const sops = (ageKey: string | undefined) =>
      createSops({
        ageKey,
        redactor: createRedactor(),
        turns: createTurns(systemClock),
        program: {
          vaultAddress: undefined,
          decrypt: () => {
            asked++;
            return Promise.reject(new SopsFormatError("no answer", { mayPass: true }));
          },
        },
      });
    const withKey = sops(own.identity);
    const tries = (name: string, by = withKey) =>
      triesOf(() =>
        assert.rejects(by.decrypt({ name, bytes }, never), new RegExp(`^.*${name} is`))
      );
    assert.deepEqual(await tries("a.yaml"), [1]);
    assert.deepEqual(await tries("b.yaml"), []);
    const without = sops(undefined);
    await tries("a.yaml", without);
    await tries("b.yaml", without);
    assert.equal(asked, 2);
  });
});
