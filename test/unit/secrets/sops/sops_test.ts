import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { isStackwrightError } from "../../../../src/model/mod.ts";
import { createSops, type Sops, type SopsProgram } from "../../../../src/secrets/mod.ts";
import { createRedactor, createTurns, systemClock } from "../../../../src/system/mod.ts";
import {
  createAgeKeys,
  encryptBinary,
  encryptDotenv,
  encryptJson,
  encryptYaml,
  type SopsTree,
} from "../../../fakes/sops_encryptor.ts";
import * as real from "./real_files.ts";

const never = new AbortController().signal;
const keys = await createAgeKeys();
const recipients = [keys.recipient];
const noProgram: SopsProgram = {
  vaultAddress: undefined,
  decrypt: () => Promise.resolve(undefined),
};

function sopsWith(ageKey: string | undefined, program = noProgram): Sops {
  return createSops({
    ageKey,
    program,
    redactor: createRedactor(),
    turns: createTurns(systemClock),
  });
}

async function plain(name: string, text: string, sops = sopsWith(keys.identity)): Promise<string> {
  const file = await sops.decrypt({ name, bytes: new TextEncoder().encode(text) }, never);
  return file === undefined ? "not encrypted" : new TextDecoder().decode(file.bytes);
}

/** The code and message of what is thrown. */
async function failure(name: string, text: string, sops = sopsWith(keys.identity)) {
  try {
    await plain(name, text, sops);
  } catch (error) {
    if (isStackwrightError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error("it was decrypted");
}

describe("decrypt() of files the sops program wrote", () => {
  const cases: readonly [string, string, string, string][] = [
    [
      "file.yaml",
      real.SOME_SECRET_YAML,
      real.TERRAGRUNT_KEY,
      "0x629A673A8242c2AC4B7B8C5D8735fbeac21A6205",
    ],
    [
      "secret.env",
      real.SECRET_ENV,
      real.SOPS_AGE_KEY,
      "secret=this is a secret\nanother_secret=7\n",
    ],
    [
      "secret.ini",
      real.SECRET_INI,
      real.SOPS_AGE_KEY,
      "secret = this is a secret\n\n[complex]\nstring = string\n",
    ],
  ];
  for (const [name, text, key, wanted] of cases) {
    it(`decrypt() gives the content and accepts the MAC of ${name}`, async () => {
      const found = await plain(name, text, sopsWith(key));
      assert.ok(found.includes(wanted), found);
      assert.ok(!found.includes("sops"), found);
    });
  }

  const everyType = {
    secret: "this is a secret",
    string: "string",
    int: 7,
    float: 3.14,
    boolean: true,
    complex: { value: "this is a secret", array: ["one", "two", "three"] },
  };
  for (const [name, text] of [["a.yaml", real.EVERY_TYPE_YAML], ["a.json", real.EVERY_TYPE_JSON]]) {
    it(`decrypt() gives every type back from ${name}`, async () => {
      const found = await plain(name ?? "", text ?? "", sopsWith(real.SOPS_AGE_KEY));
      assert.deepEqual(parse(found), everyType);
      if (name === "a.json") assert.deepEqual(JSON.parse(found), everyType);
    });
  }

  it("decrypt() refuses a real file whose values were swapped, naming the key", async () => {
    const lines = real.SECRET_ENV.split("\n");
    const values = [lines[0]?.slice("secret=".length), lines[1]?.slice("another_secret=".length)];
    const swapped = [`secret=${values[1]}`, `another_secret=${values[0]}`, ...lines.slice(2)];
    assert.match(
      await failure("secret.env", swapped.join("\n"), sopsWith(real.SOPS_AGE_KEY)),
      /^config_invalid: secret\.env .*: secret was changed or moved/,
    );
  });
});

const TREE: SopsTree = {
  text: "canary-value",
  empty: "",
  looks_like_a_number: "0123",
  looks_like_a_bool: "yes",
  lines: "first\nsecond\n",
  unicode: "grüße \u2028 ☃",
  integer: 42,
  negative: -7,
  huge: 1e21,
  float: 0.5,
  yes: true,
  no: false,
  nothing: null,
  list: ["one", 2, [true, "deep"], { name: "in a list" }],
  nested: { a: { b: { c: "deep" } } },
  "odd key: with # signs": "value",
  name_unencrypted: "shown",
  port_unencrypted: 8080,
  ratio_unencrypted: 1.5,
  flag_unencrypted: true,
};

describe("decrypt() of YAML", () => {
  it("decrypt() gives every value back with its type", async () => {
    assert.deepEqual(parse(await plain("x.yaml", await encryptYaml(TREE, { recipients }))), TREE);
  });

  it("decrypt() gives every document of a stream back", async () => {
    const text = await encryptYaml([{ a: "first" }, { a: "second", b: [1] }], { recipients });
    const found = parseAllDocuments(await plain("x.yml", text)).map((each) => each.toJS());
    assert.deepEqual(found, [{ a: "first" }, { a: "second", b: [1] }]);
  });

  it("decrypt() keeps the spelling of what is not encrypted, and decrypts comments", async () => {
    const tree = { "#1": " a comment", mode: 1, inner: { "#2": " inside", x: "y" } };
    const encrypted = await encryptYaml(tree, { recipients, encryptedRegex: "^x$|^inner$" });
    const respelled = encrypted.replace("mode: 1\n", "mode: 0o1 # as it was\n");
    assert.equal(
      await plain("x.yaml", respelled),
      '# a comment\nmode: 0o1 # as it was\ninner:\n    # inside\n    x: "y"\n',
    );
  });

  it("decrypt() leaves out a comment that other readers take for several lines", async () => {
    for (const end of ["\n", "\r", "\u0085", "\u2028", "\u2029"]) {
      const text = await encryptYaml({ "#1": `a${end}b: c`, x: "y" }, { recipients });
      assert.equal(await plain("x.yaml", text), '#\nx: "y"\n');
    }
  });

  it("decrypt() counts what comments say among the secrets", async () => {
    const bytes = Buffer.from(
      await encryptYaml({ "#1": " was bDXM8yJX6dH3", x: "y" }, { recipients }),
    );
    const { signal } = new AbortController();
    const found = await sopsWith(keys.identity).decrypt({ name: "x.yaml", bytes }, signal);
    assert.deepEqual(found?.secrets, ["was bDXM8yJX6dH3", "bDXM8yJX6dH3"]);
  });

  it("decrypt() leaves an empty map of a file that has nothing but metadata", async () => {
    assert.deepEqual(parse(await plain("x.yaml", await encryptYaml({}, { recipients }))), {});
  });

  const spellings: readonly [string, string][] = [
    ["0644", "420"],
    ["0x1F", "31"],
    ["1_000", "1000"],
    ["1e3", "1000"],
    ["1.50", "1.5"],
    [".inf", "+Inf"],
    ["True", "True"],
    ["'true'", "true"],
    ["yes", "yes"],
    ["~", ""],
    ["2026-01-02", "2026-01-02T00:00:00Z"],
    ["0.0000001", "0.0000001"],
    ["|\n  two\n  lines", "two\nlines\n"],
  ];
  for (const [spelled, summed] of spellings) {
    it(`decrypt() sums ${JSON.stringify(spelled)} up as SOPS does`, async () => {
      const marked = await encryptYaml(
        { secret: "s", open_unencrypted: summed || null },
        { recipients },
      );
      const text = marked.replace(
        /open_unencrypted: [^\n]*(?:\n {4}[^\n]+)*\n/,
        `open_unencrypted: ${spelled}\n`,
      );
      assert.match(await plain("x.yaml", text), /^secret: "s"\nopen_unencrypted: /);
    });
  }
});

describe("decrypt() of other formats", () => {
  it("decrypt() gives JSON back with its order and types", async () => {
    const text = await encryptJson({ ...TREE, "10": "later", "9": "last" }, { recipients });
    assert.deepEqual(JSON.parse(await plain("x.json", text)), {
      ...TREE,
      "10": "later",
      "9": "last",
    });
  });

  it("decrypt() takes metadata out of JSON wherever it stands", async () => {
    const encrypted = JSON.parse(await encryptJson({ a: "1", b: ["2"] }, { recipients }));
    const { a, b, sops } = encrypted;
    for (const order of [{ sops, a, b }, { a, sops, b }, { a, b, sops }]) {
      const found = JSON.parse(await plain("x.json", JSON.stringify(order)));
      assert.deepEqual(found, { a: "1", b: ["2"] });
    }
  });

  it("decrypt() gives dotenv lines back, comments included", async () => {
    const text = "# all of it\nA=1\nB=with = and # signs\nC=two\\nlines\nEMPTY=\n";
    assert.equal(await plain("x.env", await encryptDotenv(text, { recipients })), text);
  });

  it("decrypt() gives a binary file back byte by byte, whatever it is named", async () => {
    const text = "server {\n\tlisten 80; # ümlaut\r\n}\n";
    for (const name of ["nginx.conf", "secret", ".env"]) {
      assert.equal(await plain(name, await encryptBinary(text, { recipients })), text);
    }
  });

  it("decrypt() knows dotenv by its content where the name is another", async () => {
    assert.equal(await plain("prod.enc", await encryptDotenv("A=b\n", { recipients })), "A=b\n");
  });

  it("decrypt() leaves what only speaks of SOPS alone", async () => {
    const texts = [
      "# sops writes ENC[AES256_GCM,data:…]\n",
      "sops: is great, ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\n",
      "sops: {creation_rules: []}\nx: ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\n",
      '{"sops": "ENC[AES256_GCM,"}',
      '{"sops": ENC[AES256_GCM,',
      "",
    ];
    for (const text of texts) assert.equal(await plain("x.yaml", text), "not encrypted", text);
    const invalid = Uint8Array.of(...new TextEncoder().encode("sops ENC[AES256_GCM,"), 0xff, 0xfe);
    assert.equal(
      await sopsWith(keys.identity).decrypt({ name: "x", bytes: invalid }, never),
      undefined,
    );
  });
});

describe("decrypt() by rules", () => {
  const tree = { a_open: "open", b: { c_secret: "canary", d: "plain" }, n: 5 };
  const rules: readonly [string, Parameters<typeof encryptYaml>[1]][] = [
    ["unencrypted_suffix", { recipients, unencryptedSuffix: "_open" }],
    ["encrypted_suffix", { recipients, encryptedSuffix: "_secret" }],
    ["encrypted_regex", { recipients, encryptedRegex: "^(c_secret|n)$" }],
    ["unencrypted_regex", { recipients, unencryptedRegex: "open$" }],
  ];
  for (const [name, options] of rules) {
    for (const macOnlyEncrypted of [false, true]) {
      it(`decrypt() follows ${name} with mac_only_encrypted=${macOnlyEncrypted}`, async () => {
        const text = await encryptYaml(tree, { ...options, macOnlyEncrypted });
        assert.deepEqual(parse(await plain("x.yaml", text)), tree);
        const env = await encryptDotenv("a_open=1\nc_secret=2\n", { ...options, macOnlyEncrypted });
        assert.equal(await plain("x.env", env), "a_open=1\nc_secret=2\n");
      });
    }
  }

  it("decrypt() minds changes of open values, except with mac_only_encrypted", async () => {
    for (const macOnlyEncrypted of [false, true]) {
      const options = { recipients, encryptedSuffix: "_secret", macOnlyEncrypted };
      const text = (await encryptYaml(tree, options)).replace("plain", "other");
      if (macOnlyEncrypted) assert.match(await plain("x.yaml", text), /d: "other"/);
      else assert.match(await failure("x.yaml", text), /MAC does not match/);
    }
  });
});

describe("decrypt() of what was tampered with", () => {
  const cases: readonly [string, (text: string) => string, RegExp][] = [
    [
      "a value was added",
      (text) => text.replace("sops:", "x_unencrypted: y\nsops:"),
      /MAC does not match/,
    ],
    ["a value was removed", (text) => text.replace(/^b:.*\n/m, ""), /MAC does not match/],
    ["a list lost an item", (text) => text.replace(/^ {4}- ENC.*\n/m, ""), /MAC does not match/],
    ["a key was renamed", (text) => text.replace(/^a:/m, "z:"), /: z was changed or moved/],
    [
      "a value was put in the clear",
      (text) => text.replace(/^a: .*/m, "a: evil"),
      /: a is not encrypted although/,
    ],
    [
      "a cipher text was cut",
      (text) => text.replace(/^a: ENC.{40}/m, "a: ENC[AES256_GCM,data:"),
      /: a (?:is no cipher text|was changed)/,
    ],
    [
      "the file was cut off",
      (text) => text.slice(0, text.indexOf("    mac:")),
      /has no MAC|cannot be decrypted/,
    ],
    ["the MAC was taken out", (text) => text.replace(/^ {4}mac:.*\n/m, ""), /has no MAC/],
    [
      "the MAC was replaced",
      (text) => text.replace(/(mac: ENC\[AES256_GCM,data:)..../, "$1AAAA"),
      /its MAC was changed/,
    ],
    [
      "the time was changed",
      (text) => text.replace("10:11:12Z", "10:11:13Z"),
      /its MAC was changed/,
    ],
    [
      "the time was taken out",
      (text) => text.replace(/^ {4}lastmodified:.*\n/m, ""),
      /lastmodified is missing/,
    ],
    ["an alias was added", (text) => text.replace("sops:", "x: &a y\nz: *a\nsops:"), /alias/],
    ["a type was changed", (text) => text.replace("type:str", "type:strange"), /the type strange/],
  ];
  for (const [what, change, wanted] of cases) {
    it(`decrypt() refuses a file in which ${what}, without showing a value`, async () => {
      const encrypted = await encryptYaml({ a: "canary-1", b: "canary-2", c: ["canary-3", "d"] }, {
        recipients,
      });
      const changed = change(encrypted);
      assert.notEqual(changed, encrypted);
      const message = await failure("dir/x.yaml", changed);
      assert.match(message, wanted);
      assert.match(message, /^config_invalid: dir\/x\.yaml is encrypted with SOPS/);
      assert.ok(!message.includes("canary"), message);
    });
  }

  it("decrypt() refuses a wrong MAC in every format", async () => {
    const options = { recipients, mac: "0".repeat(128) };
    assert.match(await failure("x.yaml", await encryptYaml({ a: "b" }, options)), /MAC does not/);
    assert.match(await failure("x.json", await encryptJson({ a: "b" }, options)), /MAC does not/);
    assert.match(await failure("x.env", await encryptDotenv("A=b\n", options)), /MAC does not/);
    assert.match(await failure("x", await encryptBinary("b", options)), /MAC does not/);
  });

  it("decrypt() refuses what is encrypted twice", async () => {
    const once = await encryptBinary("content", { recipients });
    assert.match(await failure("x", await encryptBinary(once, { recipients })), /encrypted twice/);
  });
});

describe("decrypt() and its keys", () => {
  it("decrypt() tries every identity and every recipient", async () => {
    const other = await createAgeKeys();
    const text = await encryptYaml({ a: "b" }, { recipients: [other.recipient, keys.recipient] });
    const sops = sopsWith(`# a comment\n${(await createAgeKeys()).identity}\n\n${keys.identity}\n`);
    assert.match(await plain("x.yaml", text, sops), /a: "b"/);
  });

  it("decrypt() names the recipients when no identity is one of them", async () => {
    const other = await createAgeKeys();
    const message = await failure(
      "x.yaml",
      await encryptYaml({ a: "b" }, { recipients }),
      sopsWith(other.identity),
    );
    assert.ok(message.includes(keys.recipient), message);
    assert.ok(!message.includes(other.identity), message);
  });

  it("decrypt() says which settings are missing when there is no key at all", async () => {
    const message = await failure(
      "x.yaml",
      await encryptYaml({ a: "b" }, { recipients }),
      sopsWith(undefined),
    );
    assert.match(message, /^unsupported: .*SOPS_AGE_KEY or SOPS_AGE_KEY_FILE/);
  });

  const others: readonly [string, Record<string, unknown>, RegExp][] = [
    ["pgp", { pgp: [{ fp: "ABCD", enc: "x" }] }, /keys of pgp, which needs the sops program/],
    ["kms", { kms: [{ arn: "arn:aws:kms:x:1:key/k", enc: "x" }] }, /keys of kms, which needs/],
    ["gcp_kms", { gcp_kms: [{ resource_id: "x", enc: "x" }] }, /keys of gcp_kms, which needs/],
    [
      "azure_kv",
      { azure_kv: [{ vault_url: "https://x.vault.azure.net", enc: "x" }] },
      /keys of azure_kv, which needs/,
    ],
    [
      "key groups",
      {
        shamir_threshold: 2,
        key_groups: [{ age: [{ recipient: "a", enc: "x" }] }, { pgp: [{ enc: "x" }] }],
      },
      /split among 2 key groups \(age, pgp\), which needs the sops program/,
    ],
  ];
  for (const [what, metadata, wanted] of others) {
    it(`decrypt() names the kind of key of a file for ${what}`, async () => {
      const text = await encryptYaml({ a: "b" }, {
        recipients,
        metadata: { age: undefined, ...metadata },
      });
      const message = await failure("x.yaml", text);
      assert.match(message, wanted);
      assert.match(message, /^unsupported: x\.yaml/);
    });
  }

  it("decrypt() reads one key group as a plain list of keys", async () => {
    const text = await encryptYaml({ a: "b" }, { recipients });
    const grouped = parse(text);
    const { age, ...rest } = grouped.sops;
    const json = JSON.stringify({ ...grouped, sops: { ...rest, key_groups: [{ age }] } });
    assert.deepEqual(JSON.parse(await plain("x.json", json)), { a: "b" });
  });

  it("decrypt() hands other keys to the program, once for equal content", async () => {
    let asked = 0;
    const program: SopsProgram = {
      vaultAddress: undefined,
      decrypt: () => Promise.resolve(new TextEncoder().encode(`{"a": "${++asked}"}`)),
    };
    const metadata = { age: undefined, pgp: [{ fp: "ABCD", enc: "x" }] };
    const text = await encryptYaml({ a: "b" }, { recipients, metadata });
    const sops = sopsWith(undefined, program);
    assert.equal(await plain("x.yaml", text, sops), 'a: "1"\n');
    assert.equal(await plain("other/x.yaml", text, sops), 'a: "1"\n');
  });

  it("decrypt() has the program say where a key of age may be set, when there is none", async () => {
    const advised: unknown[] = [];
    const program: SopsProgram = {
      vaultAddress: undefined,
      decrypt({ advice }) {
        advised.push(advice);
        return Promise.resolve(undefined);
      },
    };
    const pgp = [{ fp: "ABCD", enc: "x" }];
    for (const age of [{}, { age: undefined }]) {
      const text = await encryptYaml({ a: "b" }, { recipients, metadata: { ...age, pgp } });
      await failure("x.yaml", text, sopsWith(undefined, program));
    }
    assert.deepEqual(advised, ["; for age, set SOPS_AGE_KEY or SOPS_AGE_KEY_FILE", undefined]);
  });

  it("decrypt() sends no token to a Vault server that a repository names", async () => {
    let asked = 0;
    const program = (vaultAddress: string | undefined): SopsProgram => ({
      vaultAddress,
      decrypt: () => Promise.resolve(new TextEncoder().encode(`{"a": "${++asked}"}`)),
    });
    const hc_vault = [{
      vault_address: "https://vault.example.com:8200/",
      engine_path: "team/transit",
      key_name: "k.1",
      enc: "x",
    }];
    const text = await encryptYaml({ a: "b" }, {
      recipients,
      metadata: { age: undefined, hc_vault },
    });
    const refused = /Vault server https:\/\/vault\.example\.com:8200, and VAULT_ADDR/;
    assert.match(await failure("x.yaml", text, sopsWith(undefined, program(undefined))), refused);
    const other = sopsWith(undefined, program("https://vault.example.org"));
    assert.match(await failure("x.yaml", text, other), refused);
    assert.equal(asked, 0);
    const own = sopsWith(undefined, program("https://vault.example.com:8200"));
    assert.equal(await plain("x.yaml", text, own), 'a: "1"\n');
  });

  const vault = {
    vault_address: "https://vault.example.com",
    engine_path: "transit",
    key_name: "k",
  };
  const azure = "https://v.vault.azure.net";
  const elsewhere: readonly [kind: string, entry: Record<string, unknown>, refused: RegExp][] = [
    // The program joins engine_path, "decrypt" and key_name, and writes to what that leads to.
    ["hc_vault", { ...vault, key_name: "../../sys/seal" }, /engine_path and key_name/],
    ["hc_vault", { ...vault, key_name: ".." }, /engine_path and key_name/],
    ["hc_vault", { ...vault, key_name: "a/b" }, /engine_path and key_name/],
    ["hc_vault", { ...vault, key_name: "k?x" }, /engine_path and key_name/],
    ["hc_vault", { ...vault, engine_path: "kv/data/shop/.." }, /engine_path and key_name/],
    ["hc_vault", { ...vault, engine_path: "/transit" }, /engine_path and key_name/],
    ["hc_vault", { vault_address: vault.vault_address }, /engine_path and key_name/],
    ["hc_vault", { ...vault, vault_address: `${vault.vault_address}/v1/sys` }, /unusual way/],
    ["hc_vault", { ...vault, vault_address: "https://vault%2eexample.com" }, /unusual way/],
    ["hc_vault", { ...vault, vault_address: "https://vault.example.\tcom" }, /unusual way/],
    ["hc_vault", { ...vault, vault_address: "foo://vault.example.com" }, /unusual way/],
    ["azure_kv", { vault_url: "https://vault.azure.net.example.com" }, /no address of Azure/],
    ["azure_kv", { vault_url: "https://example.com/.vault.azure.net" }, /no address of Azure/],
    ["azure_kv", { vault_url: "http://v.vault.azure.net" }, /no address of Azure/],
    ["azure_kv", { vault_url: "http://169.254.169.254" }, /no address of Azure/],
    ["azure_kv", { vault_url: `${azure}@example.com` }, /no address of Azure/],
    ["azure_kv", {}, /no address of Azure/],
    ["kms", { arn: "arn:aws:kms:example.com/:1:key/k" }, /no name of a key of AWS/],
    ["kms", { arn: "arn:aws:kms:eu@example.com:1:key/k" }, /no name of a key of AWS/],
    ["kms", {}, /no name of a key of AWS/],
  ];
  const ordinary: readonly [kind: string, entry: Record<string, unknown>][] = [
    ["hc_vault", { ...vault, engine_path: "team/transit/" }],
    ["azure_kv", { vault_url: azure, name: "k", version: "1" }],
    ["azure_kv", { vault_url: "https://v.vault.usgovcloudapi.net/", name: "k", version: "1" }],
    ["kms", { arn: "arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-1234-ab" }],
    ["kms", { arn: "arn:aws:kms:eu-central-1:111122223333:alias/team/k", role: "" }],
    ["gcp_kms", { resource_id: "projects/p/locations/global/keyRings/r/cryptoKeys/k" }],
  ];
  const withKey = (kind: string, entry: Record<string, unknown>) =>
    encryptYaml({ a: "b" }, {
      recipients,
      metadata: { age: undefined, [kind]: [{ ...entry, enc: "x" }] },
    });
  for (const [kind, entry, refused] of elsewhere) {
    it(`decrypt() gives the program no key ${kind} ${JSON.stringify(entry)}`, async () => {
      let asked = 0;
      const program: SopsProgram = {
        vaultAddress: vault.vault_address,
        decrypt: () => Promise.resolve(new TextEncoder().encode(`{"a": "${++asked}"}`)),
      };
      const text = await withKey(kind, entry);
      assert.match(await failure("x.yaml", text, sopsWith(undefined, program)), refused);
      assert.equal(asked, 0);
    });
  }
  for (const [kind, entry] of ordinary) {
    it(`decrypt() gives the program the key ${kind} ${JSON.stringify(entry)}`, async () => {
      const program: SopsProgram = {
        vaultAddress: vault.vault_address,
        decrypt: () => Promise.resolve(new TextEncoder().encode('{"a": "b"}')),
      };
      const text = await withKey(kind, entry);
      assert.equal(await plain("x.yaml", text, sopsWith(undefined, program)), 'a: "b"\n');
    });
  }

  const ONE = '{"vault_address":"https://vault.example.com","enc":"x"}';
  const EVIL = `[${ONE}]`;
  const lines = (prefix: string, ...more: readonly string[]) =>
    [
      "A=ENC[AES256_GCM,data:x,type:str]",
      `${prefix}mac=x`,
      ...["lastmodified=2026-11-20T10:11:12Z", "pgp__list_0__map_enc=x", ...more].map((each) =>
        prefix === "sops_" ? prefix + each : each
      ),
    ].join("\n");
  const encryptedJson = async () => {
    const pgp = { age: undefined, pgp: [{ fp: "ABCD", enc: "x" }] };
    return await encryptJson({ a: "b" }, { recipients, metadata: pgp });
  };
  type Hidden = readonly [what: string, name: string, change: (text: string) => string];
  const hidden: readonly Hidden[] = [
    ["in other case", "x.json", (json) => json.replace('"pgp":', `"HC_Vault":${EVIL},"pgp":`)],
    [
      "in a block in other case",
      "x.json",
      (json) => json.replace("{", `{"SOPS":{"hc_vault":${EVIL}},`),
    ],
    [
      "in a block with a letter that counts as another",
      "x.json",
      (json) => json.replace("{", `{"\u017fops":{"hc_vault":${EVIL}},`),
    ],
    ["in a first block", "x.json", (json) => json.replace("{", `{"sops":{"hc_vault":${EVIL}},`)],
    [
      "in a first list of groups",
      "x.json",
      (json) =>
        json.replace('"pgp":', `"key_groups":[{"hc_vault":${EVIL}}],"key_groups":[{}],"pgp":`),
    ],
    [
      "by a merge in its metadata",
      "x.yaml",
      (json) => {
        const { sops, ...rest } = JSON.parse(json);
        const block = JSON.stringify(sops).replace("{", `{<<: {"hc_vault":${EVIL}},`);
        return `a: ${JSON.stringify(rest.a)}\nsops: ${block}\n`;
      },
    ],
    [
      "by an alias in the metadata of a first document",
      "x.yaml",
      (json) => {
        const { sops, a } = JSON.parse(json);
        return `v: &v ${EVIL}\nsops: {hc_vault: *v, mac: x}\n---\na: ${JSON.stringify(a)}\n` +
          `sops: ${JSON.stringify(sops)}\n`;
      },
    ],
    ...["\r", "\u0085", "\u2028", "\u2029"].map((end) =>
      [
        `behind a comment that ends with ${JSON.stringify(end)}`,
        "x.yaml",
        (json: string) => {
          const { sops: { pgp, ...sops }, a } = JSON.parse(json);
          return `a: ${a}\nsops:\n  pgp: ${JSON.stringify(pgp)}\n  # b${end}  hc_vault: ${EVIL}\n` +
            Object.entries(sops).map(([key, each]) => `  ${key}: ${JSON.stringify(each)}\n`).join(
              "",
            );
        },
      ] as const
    ),
    [
      "in a first document, by a name in base64",
      "x.yaml",
      (json) => {
        const { sops, a } = JSON.parse(json);
        return `!!binary c29wcw==: {hc_vault: ${EVIL}, mac: x}\n---\na: ${a}\n` +
          `sops: ${JSON.stringify(sops)}\n`;
      },
    ],
    [
      "in groups that are an ordered map",
      "x.yaml",
      (json) => {
        const { sops, a } = JSON.parse(json);
        const block = JSON.stringify(sops).replace("{", `{key_groups: !!omap [hc_vault: ${EVIL}],`);
        return `a: ${a}\nsops: ${block}\n`;
      },
    ],
    [
      "as the only entry of a list, without the list",
      "x.json",
      (json) => json.replace('"pgp":', `"hc_vault":${ONE},"pgp":`),
    ],
    [
      "in the only one of groups, without their list",
      "x.json",
      (json) => json.replace(/"pgp":\[[^\]]*\]/, `"key_groups":{"hc_vault":[${ONE}]}`),
    ],
    [
      "in a list of lists",
      "x.json",
      (json) => json.replace('"pgp":', `"hc_vault":[[${ONE}]],"pgp":`),
    ],
    [
      "at a place that is no number",
      "x.env",
      () => lines("sops_", "hc_vault__list_x__map_vault_address=https://vault.example.com"),
    ],
    [
      "of a map that counts as a list",
      "x.env",
      () => lines("sops_", "hc_vault__map_vault_address=https://vault.example.com"),
    ],
    ...[
      ["in a section with a comment", "[data]", "[sops] ;a=b"],
      ["in a section that ends inside a value", "x=a\\", "[data]"],
      ["in a section that ends inside a value of several lines", "x=`", "[data]\ny=`"],
      ["in a section that ends inside another one", 'x="""', '[data]\ny="""'],
      ["in a section whose end has a sign in front", "\ufeff[da=ta]", ""],
      ["in a section that begins behind another blank", "[data]", "\u0085[sops] ;a=b"],
    ].map(([what = "", ...before]) =>
      [
        `${what} of INI`,
        "x.ini",
        () =>
          lines(
            "[sops]\n",
            ...before,
            "hc_vault__list_0__map_vault_address=https://vault.example.com",
          ),
      ] as const
    ),
    [
      "before another one",
      "x.ini",
      () =>
        lines(
          "[sops]\n",
          "pgp__list_0__map_fp=https://vault.example.com",
          "pgp__list_0__map_fp=AB",
        ),
    ],
  ];
  for (const [what, name, change] of hidden) {
    it(`decrypt() gives the program no file that names a Vault server ${what}`, async () => {
      let asked = 0;
      const program: SopsProgram = {
        vaultAddress: undefined,
        decrypt: () => Promise.resolve(new TextEncoder().encode(`{"a": "${++asked}"}`)),
      };
      const text = change(JSON.stringify(JSON.parse(await encryptedJson())));
      assert.match(text, /vault\.example\.com/);
      await failure(name, text, sopsWith(undefined, program));
      assert.equal(asked, 0);
    });
  }
});

describe("decrypt() and the redactor", () => {
  it("decrypt() makes values unprintable, and leaves short and ordinary ones", async () => {
    const redactor = createRedactor();
    const sops = createSops({
      ageKey: keys.identity,
      program: noProgram,
      redactor,
      turns: createTurns(systemClock),
    });
    const tree = {
      a: "canary-4711",
      b: "short",
      c: "production",
      d: { e: ["canary-4712"] },
      pin: 12345678,
    };
    await plain("x.yaml", await encryptYaml(tree, { recipients }), sops);
    await plain(
      "y",
      await encryptBinary("password = canary-4713\nlisten 80\n", { recipients }),
      sops,
    );
    const text = "canary-4711 short production canary-4712 canary-4713 12345678 listen";
    assert.equal(redactor.redact(text), "*** short production *** *** *** listen");
  });
});
