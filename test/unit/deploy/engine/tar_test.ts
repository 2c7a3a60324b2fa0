import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tarOf } from "../../../../src/deploy/mod.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const field = (block: Uint8Array, at: number, length: number) =>
  text(block.subarray(at, at + length)).replace(/\0.*$/s, "");

/** The entries of an archive, each as its type, name, target, mode and content. */
function entriesOf(archive: Uint8Array): string[] {
  const found: string[] = [];
  for (let at = 0; archive[at] !== 0;) {
    const block = archive.subarray(at, at + 512);
    const size = Number.parseInt(field(block, 124, 12), 8);
    const content = text(archive.subarray(at + 512, at + 512 + size));
    const sum = block.reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0);
    assert.equal(Number.parseInt(field(block, 148, 8), 8), sum);
    const mode = Number.parseInt(field(block, 100, 8), 8).toString(8);
    const [type, name, target] = [
      field(block, 156, 1),
      field(block, 0, 100),
      field(block, 157, 100),
    ];
    found.push(`${type} ${name} ${target} ${mode} ${content}`);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

const OWNER = { uid: 0, gid: 0 };

describe("tarOf()", () => {
  it("archives files, directories and links", () => {
    const archive = tarOf([
      { path: "/d", mode: 0o755, content: "", kind: "directory", ...OWNER },
      { path: "d/f", mode: 0o644, content: new Uint8Array([104, 105]), ...OWNER },
      { path: "d/l", mode: 0o777, content: "f", kind: "symlink", ...OWNER },
    ], 1);
    assert.deepEqual(entriesOf(archive), ["5 d  755 ", "0 d/f  644 hi", "2 d/l f 777 "]);
  });

  for (const length of [101, 989, 990, 991, 992, 9985]) {
    it(`says a path of ${length} bytes, and a target, before the entry`, () => {
      const path = "é".repeat(Math.floor(length / 2)) + "x".repeat(length % 2);
      const archive = tarOf([{ path, mode: 0o777, content: path, kind: "symlink", ...OWNER }], 1);
      const [names = "", entry = ""] = entriesOf(archive);
      assert.match(names, /^x /);
      assert.match(entry, /^2 /);
      const bytes = new TextEncoder().encode(names.replace(/^x names {2}644 /, ""));
      const records: string[] = [];
      for (let at = 0; at < bytes.length;) {
        const size = Number.parseInt(text(bytes.subarray(at)), 10);
        records.push(text(bytes.subarray(at, at + size)));
        at += size;
      }
      const values = records.map((each) => each.replace(/^\d+ /, ""));
      assert.deepEqual(values, [`path=${path}\n`, `linkpath=${path}\n`]);
    });
  }
});
