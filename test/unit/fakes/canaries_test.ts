import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { Canaries, type CanaryKind } from "../../fakes/canaries.ts";

const FORMS: readonly (readonly [string, (text: string) => string | Uint8Array])[] = [
  ["as it is", (text) => text],
  ["in the middle of bytes", (text) => Buffer.from(`\0\xff${text}\0`, "latin1")],
  ["in JSON", (text) => JSON.stringify({ a: text })],
  ["in JSON in JSON", (text) => JSON.stringify(JSON.stringify({ a: text }))],
  ["in YAML between single quotes", (text) => `a: '${text.replaceAll("'", "''")}'`],
  ["in a URL", (text) => `http://h/?a=${encodeURIComponent(text)}`],
  ["with every byte of it escaped for a URL", (text) => escaped(text, "%")],
  ["with every byte of it escaped for a string", (text) => escaped(text, "\\x")],
  ["in a form", (text) => new URLSearchParams({ a: text }).toString()],
  ["for a shell", (text) => `'${text.replaceAll("'", "'\\''")}'`],
  ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
  ["in upper-case hexadecimal", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["in lower case", (text) => text.toLowerCase()],
  ["in UTF-16", (text) => Buffer.from(text, "utf16le")],
  ["as a list of bytes", (text) => JSON.stringify([...Buffer.from(text)])],
  ...["", "u", "us", "use"].flatMap((before) =>
    [
      [`in base64 behind ${before.length} bytes`, (text: string) => base64(`${before}${text}@h`)],
      [
        `in URL-safe base64 behind ${before.length} bytes`,
        (text: string) => Buffer.from(`${before}${text}@h`).toString("base64url"),
      ],
    ] as const
  ),
];

describe("Canaries", () => {
  for (const [form, write] of FORMS) {
    it(`find() finds a canary ${form}, and either half of one`, () => {
      for (const kind of ["any", "header", "word"] satisfies CanaryKind[]) {
        const canaries = new Canaries();
        const value = canaries.make("it", kind);
        for (const part of [value, value.slice(0, 16), value.slice(-16)]) {
          assert.notDeepEqual(canaries.find(write(part)), [], `${kind}: ${part}`);
        }
      }
    });

    it(`find() finds a line of a key ${form}`, () => {
      const canaries = new Canaries();
      canaries.plant("key", "-----BEGIN KEY-----\nAAAAB3NzaC1yc2EAAAADAQAB\nab\n-----END KEY-----");
      assert.deepEqual(canaries.find(write("x AAAAB3NzaC1yc2EAAAADAQAB y")), ["key, line 1"]);
    });
  }

  it("find() names the canary it found", () => {
    const canaries = new Canaries();
    canaries.make("one");
    const two = canaries.make("two");
    assert.match(canaries.find(`a ${two} b`)[0] ?? "", /^two in …a /);
  });

  it("find() finds nothing where there is nothing", () => {
    const canaries = new Canaries();
    canaries.make("one");
    canaries.plant("key", "-----BEGIN KEY-----\nAAAAB3NzaC1yc2EAAAADAQAB\n-----END KEY-----");
    assert.deepEqual(canaries.find("a canary, -----BEGIN KEY-----, ***"), []);
    assert.deepEqual(canaries.find(new Uint8Array(1000)), []);
  });
});

function escaped(text: string, sign: string): string {
  return [...Buffer.from(text)].map((byte) => `${sign}${byte.toString(16).padStart(2, "0")}`)
    .join("");
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
