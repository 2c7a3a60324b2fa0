import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { delimiter, dirname } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { messageOf } from "../../../../src/model/mod.ts";
import { createSops, createSopsProgram, type SopsProgram } from "../../../../src/secrets/mod.ts";
import {
  createRedactor,
  createTurns,
  systemClock,
  systemCommands,
} from "../../../../src/system/mod.ts";
import {
  createAgeKeys,
  encryptBinary,
  encryptDotenv,
  encryptJson,
  encryptYaml,
  type SopsOptions,
} from "../../../fakes/sops_encryptor.ts";

const never = new AbortController().signal;
const keys = await createAgeKeys();
const recipients = [keys.recipient];

const sopsWith = (program: SopsProgram, ageKey?: string) =>
  createSops({ ageKey, program, redactor: createRedactor(), turns: createTurns(systemClock) });

/** The texts that a program is given for a file. */
async function given(name: string, text: string, vaultAddress?: string): Promise<string[]> {
  const texts: string[] = [];
  const program: SopsProgram = {
    vaultAddress,
    decrypt({ bytes }) {
      texts.push(new TextDecoder().decode(bytes));
      return Promise.resolve(undefined);
    },
  };
  const bytes = new TextEncoder().encode(text);
  await sopsWith(program).decrypt({ name, bytes }, never).catch(() => undefined);
  return texts;
}

const ENC = "ENC[AES256_GCM,data:aaaa,iv:bbbb,tag:cccc,type:str]";
const vault = (address: string) =>
  `{hc_vault: [{vault_address: "${address}", engine_path: transit, key_name: k, enc: "vault:v1:xx"}], ` +
  `lastmodified: "2024-01-01T00:00:00Z", mac: "${ENC}", version: "3.8.1"}`;

describe("what the sops program reads", () => {
  it("has the metadata that was judged, where readers of YAML see two", async () => {
    const own = "http://own.example.com:8200";
    const text = `# c\n{x: [!a], sops: ${vault(own)}, y: [!t[ ]], ` +
      `sops: ${vault("http://thief.example.com")}, a: "${ENC}"}\n`;
    for (const each of await given("two.yaml", text, own)) {
      assert.ok(!each.includes("thief"), each);
      assert.equal(JSON.parse(each).sops.hc_vault[0].vault_address, own);
    }
  });

  it("has values at their keys in their order, open ones under a name of its own", async () => {
    const pgp = [{ fp: "ABCD", enc: "x" }];
    const metadata = { age: undefined, pgp };
    const tree = { a: { b: ["1", { c: "2" }], open_x: 3, d: "" }, e: null, f: "4" };
    const options = { recipients, metadata, unencryptedSuffix: "_x", macOnlyEncrypted: true };
    const [text = ""] = await given("x.yaml", await encryptYaml(tree, options));
    const { sops, ...rest } = JSON.parse(text.replaceAll(/ENC\[[^\]]*type:str\]/g, "ENC"));
    assert.deepEqual(rest, {
      a: [
        { b: ["ENC", { c: "ENC" }] },
        { open_x: [{ _plain_for_stackwright: "3" }] },
        { d: "" },
      ],
      f: "ENC",
    });
    assert.deepEqual(sops.pgp, pgp);
    assert.equal(sops.unencrypted_suffix, "_plain_for_stackwright");
    assert.equal(sops.mac_only_encrypted, true);
  });

  it("is nothing where a key would be metadata to it, or decide what is open", async () => {
    const metadata = { age: undefined, pgp: [{ fp: "ABCD", enc: "x" }] };
    for (const key of ["SOPS", "\u017fops", "sop\u017f", "x_plain_for_stackwright"]) {
      const text = await encryptYaml({ [key]: "a" }, { recipients, metadata });
      assert.deepEqual(await given("x.yaml", text), [], key);
    }
  });
});

/** Directory of the real program, if this machine has it: on PATH, or as SOPS_PROGRAM. */
const real = process.env["SOPS_PROGRAM"] ?? found();

function found(): string | undefined {
  try {
    return execFileSync("/bin/sh", ["-c", "command -v sops"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

const skip = real === undefined
  ? "SKIPPED: no sops program here, so nothing of this is tested: set SOPS_PROGRAM=/path/of/sops"
  : false;
if (real === undefined) process.stderr.write(`program_file_test.ts: ${skip}\n`);

describe("what the real sops program decrypts", { skip }, () => {
  const program = createSopsProgram({
    commands: systemCommands,
    env: { PATH: [dirname(real ?? ""), "/usr/bin", "/bin"].join(delimiter) },
    ageKey: keys.identity,
  });
  const none: SopsProgram = { vaultAddress: undefined, decrypt: () => Promise.resolve(undefined) };

  /** What comes of a file in this process, and with the program. */
  async function both(name: string, text: string | Uint8Array): Promise<[string, string]> {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const file = { name, bytes };
    const ends = [sopsWith(none, keys.identity), sopsWith(program)].map((each) =>
      each.decrypt(file, never).then(
        (plain) => Buffer.from(plain?.bytes ?? []).toString(name === "x.bin" ? "latin1" : "utf8"),
        (error) => `refused: ${messageOf(error)}`,
      )
    );
    return await Promise.all(ends) as [string, string];
  }

  const tree = {
    text: 'a "b" \\ ü\n<x>&\n',
    empty: "",
    number: 42,
    float: 1.5,
    yes: true,
    no: false,
    none: null,
    list: ["x", "", 7, { deep: { deeper: "y" } }, { deep: "z" }],
    open_unencrypted: { a: "plain", b: [1, 2.5, true], c: null },
    secret_x: { open: "in x" },
    "1": "number as name",
    'quoted "name"\\': "v",
    empties: { map: {}, list: [] },
  };
  const rules: readonly Partial<SopsOptions>[] = [
    {},
    { macOnlyEncrypted: true },
    { unencryptedSuffix: "_x" },
    { encryptedSuffix: "_x" },
    { encryptedRegex: "^(text|list|open)" },
    { unencryptedRegex: "^(float|yes|deep)$", macOnlyEncrypted: true },
  ];
  for (const rule of rules) {
    it(`is what this process decrypts: ${JSON.stringify(rule)}`, async () => {
      const options = { recipients, ...rule };
      const { number: _, ...withoutIntegers } = tree;
      const files = {
        "x.yaml": await encryptYaml(tree, options),
        "two.yaml": await encryptYaml([tree, { text: "second", list: ["y"] }, tree], options),
        "x.json": await encryptJson(withoutIntegers, options),
        "x.env": await encryptDotenv(
          "A=1\nB=two\\nlines\nopen_unencrypted=c\nE=\nsecret_x=d\n",
          options,
        ),
        "x.bin": await encryptBinary("\u0000some\nbytes ü\ufffd", options),
      };
      for (const [name, text] of Object.entries(files)) {
        const [here, there] = await both(name, text);
        assert.ok(!here.startsWith("refused"), `${name}: ${here}`);
        assert.equal(there, here, name);
      }
    });
  }

  it("is what this process decrypts of texts that are written unlike in other programs", async () => {
    const a = '\u0085\u2028\u2029\ufeff\ufffd\uffff\u0000\u007f\u{1f600}<>&\\u0041"\\';
    for (const text of [await encryptYaml({ a, b: { c: [a] } }, { recipients })]) {
      const [here, there] = await both("x.yaml", text);
      assert.ok(!here.startsWith("refused"), here);
      assert.equal(there, here);
    }
  });

  const written: readonly [name: string, type: string, content: string | Uint8Array][] = [
    [
      "x.yaml",
      "yaml",
      "# a\na:\n  - x\n  - 2024-01-02\n  - y: ~\nc: # b\n  # c\n  d: [[1, 2.50], yes]\n---\na: 007\nb: on\n",
    ],
    [
      "x.json",
      "json",
      '{"a": [1, 1e30, [2, ["x"]], {"b": null, "c": true}], "z": 12345678901234567}',
    ],
    ["x.env", "dotenv", "# a\nA=b c\nB=x\\ny\n"],
    ["x.ini", "ini", "; a\n[one]\na = b\n; c\nd = e f\n[two]\na = 1\n"],
    ["x.bin", "binary", Uint8Array.from({ length: 512 }, (_, at) => at % 256)],
  ];
  const ways: readonly (readonly string[])[] = [
    ["--age", keys.recipient],
    ["--age", keys.recipient, "--unencrypted-suffix", "a"],
  ];
  for (const [name, type, content] of written) {
    it(`is what this process decrypts of ${name} that it wrote, but for comments`, async () => {
      for (const way of ways) {
        const args = ["encrypt", ...way, "--input-type", type, "--output-type", type, "/dev/stdin"];
        const sealed = execFileSync(real ?? "", args, { input: content });
        const [here, there] = await both(name, sealed);
        assert.ok(!here.startsWith("refused"), `${way}: ${here}`);
        const bare = (text: string) => text.replaceAll(/^\s*[#;].*\n|\s*#.*$/gm, "");
        assert.equal(bare(there), bare(here), way.join(" "));
      }
    });
  }

  for (const type of ["yaml", "json"]) {
    it(`has the values that the program itself gives of lists with comments in ${type}`, async () => {
      const lists = "a:\n  # a\n  - x\n  #\n  # b\n  - '# c' # d\n  # e\n" +
        "b: [ # f\n  1, # g\n  {c: 2}, [ # h\n ]]\nd:\n- # i\n  - # j\n    e: # k\n" +
        "    # l\n    - # m\n      |\n      n\n    # o\n    -\n  # p\n  - f: ~\n# q\n" +
        "g_unencrypted:\n  # r\n  - |+\n    s\n\n  # t\n  - u\n  # v\n";
      const types = ["--input-type", "yaml", "--output-type", type];
      const args = ["encrypt", "--age", keys.recipient, ...types, "/dev/stdin"];
      const sealed = execFileSync(real ?? "", args, { input: lists });
      const env = { ...process.env, SOPS_AGE_KEY: keys.identity };
      const own = ["decrypt", "--input-type", type, "--output-type", "json", "/dev/stdin"];
      const wanted = JSON.parse(execFileSync(real ?? "", own, { input: sealed, env }).toString());
      for (const each of await both(`x.${type}`, sealed)) assert.deepEqual(parse(each), wanted);
    });
  }

  it("goes without comments, which its checksum does not cover", async () => {
    const text = await encryptYaml({ "#": " hidden", a: { "#1": " deep", b: "c" } }, {
      recipients,
    });
    const [here, there] = await both("x.yaml", text);
    assert.match(here, /# hidden\na:\n *# deep\n *b: "c"/);
    assert.equal(there, here.replaceAll(/# (?:hidden|deep)/g, "#"));
  });

  it("is nothing when a value was changed, moved or added", async () => {
    const text = await encryptYaml({ a: "1", b: "2", c_unencrypted: "3" }, { recipients });
    const swapped = text.replace(/^a: (.*)\nb: (.*)$/m, "a: $2\nb: $1");
    const open = text.replace('"3"', '"4"');
    const added = `d_unencrypted: x\n${text}`;
    for (const changed of [swapped, open, added]) {
      assert.notEqual(changed, text);
      const [here, there] = await both("x.yaml", changed);
      assert.match(here, /^refused/);
      assert.match(there, /^refused: .*the sops program says/);
    }
  });
});
