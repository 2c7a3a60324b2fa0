import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { isObject, messageOf } from "../../../../src/model/mod.ts";
import { createSops, type SopsProgram } from "../../../../src/secrets/mod.ts";
import { createRedactor, createTurns, systemClock } from "../../../../src/system/mod.ts";
import { COMMENTS_KEY, LIST_COMMENTS_JSON, LIST_COMMENTS_YAML } from "./real_files.ts";

const never = new AbortController().signal;
const VALUES = {
  list: ["x", "y"],
  maps: [{ k: 1 }, { k: 2, l: [3] }],
  nested: [["z"], []],
  nulls: [null],
  image: ["i"],
  open_unencrypted: [4],
};

/** What comes of a file with its age key, or with a program. */
async function decrypted(text: string, program?: SopsProgram) {
  const sops = createSops({
    ageKey: program === undefined ? COMMENTS_KEY : undefined,
    program: program ?? { vaultAddress: undefined, decrypt: () => Promise.resolve(undefined) },
    redactor: createRedactor(),
    turns: createTurns(systemClock),
  });
  const bytes = new TextEncoder().encode(text);
  const plain = await sops.decrypt({ name: "x.yaml", bytes }, never);
  return { text: new TextDecoder().decode(plain?.bytes), secrets: plain?.secrets ?? [] };
}

/** A program that knows the values, and no comment. */
const program: SopsProgram = {
  vaultAddress: undefined,
  decrypt({ bytes }) {
    const values = ["x", "y", "1", "2", "3", "z", "i"].values();
    const { sops, ...rest } = JSON.parse(new TextDecoder().decode(bytes));
    assert.ok(isObject(sops));
    const printed = JSON.stringify(rest).replace(/ENC\[[^\]]*type:str\]/g, () => {
      const { value } = values.next();
      return value ?? "too many";
    });
    return Promise.resolve(new TextEncoder().encode(printed));
  },
};

/** The file with some of its lines changed. */
function changed(from: RegExp, to: string, text = LIST_COMMENTS_YAML): string {
  const result = text.replace(from, to);
  assert.notEqual(result, text);
  return result;
}

describe("decrypt() of comments that are items of lists", () => {
  for (const [name, text] of Object.entries({ LIST_COMMENTS_YAML, LIST_COMMENTS_JSON })) {
    for (const [way, by] of [["an age key", undefined], ["the program", program]] as const) {
      it(`leaves no item of them: ${name}, with ${way}`, async () => {
        const found = await decrypted(text, by);
        assert.deepEqual(parse(found.text), VALUES);
        if (text === LIST_COMMENTS_JSON) assert.deepEqual(JSON.parse(found.text), VALUES);
      });
    }
  }

  it("leaves comments of YAML in their places, and their texts to the redactor", async () => {
    const { text, secrets } = await decrypted(LIST_COMMENTS_YAML);
    const wanted = 'list:\n    # was bDXM8yJX6dH3\n    - "x"\n    # and\n    # "more": [of it]\n' +
      '    # behind\n    - "y"\n    # last\nmaps:\n';
    assert.ok(text.startsWith(wanted), text);
    assert.ok(text.includes('nested:\n    - # first\n      - "z"\n    - []\n'), text);
    assert.ok(secrets.includes("bDXM8yJX6dH3"), secrets.join());
    const { text: bare } = await decrypted(LIST_COMMENTS_YAML, program);
    assert.ok(bare.startsWith('list:\n    #\n    - "x"\n    #\n    #\n    #\n    - "y"\n'), bare);
  });

  it("hides them also below keys that name things", async () => {
    const { secrets } = await decrypted(changed(/^sops:/m, "services: {}\nsops:"));
    assert.ok(secrets.includes("f0rmer-Passw0rd"), secrets.join());
    assert.ok(!secrets.includes("i"));
  });

  it("leaves an empty list where there is nothing else, at any depth of indentation", async () => {
    const only = changed(/^nulls:\n( +- ENC.*\n) +- null\n/m, "nulls:\n$1$1");
    const left = changed(/^nulls:\n +(- ENC.*\n) +- null\n/m, "nulls:\n$1");
    const json = changed(/("nulls": \[\s*"ENC[^"]*"),\s*null/, "$1", LIST_COMMENTS_JSON);
    for (const text of [only, left, json]) {
      for (const by of [undefined, program]) {
        assert.deepEqual(parse((await decrypted(text, by)).text), { ...VALUES, nulls: [] });
      }
    }
  });

  const refused: readonly [string, string][] = [
    ["in a flow list", changed(/^nulls:\n +- (ENC.*)\n +- null\n/m, "nulls: ['$1', null]\n")],
    ["that is no item", changed(/^nulls:\n +- (ENC.*)\n +- null\n/m, "nulls: $1\n")],
    ["with an anchor", changed(/^nulls:\n +- /m, "nulls:\n    - &a- ")],
    ["far from its dash", changed(/^nulls:\n +- /m, "nulls:\n    - # x\n      ")],
  ];
  for (const [what, text] of refused) {
    it(`refuses a comment ${what}, which SOPS never writes`, async () => {
      for (const by of [undefined, program]) {
        assert.match(
          await decrypted(text, by).then(() => "decrypted", messageOf),
          /: nulls is a comment, not a value$/,
        );
      }
    });
  }

  it("refuses a value that was made a comment, and a comment that was moved", async () => {
    const value = changed(/^(image:\n.*\n.*)type:str/m, "$1type:comment");
    await assert.rejects(decrypted(value), /its MAC does not match/);
    await assert.rejects(decrypted(changed(/^image:/m, "images:")), /images was changed or moved/);
  });
});
