import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Revision } from "../../../src/model/mod.ts";
import { plainSource } from "../../../src/prepare/plain_source.ts";
import type { Sops } from "../../../src/secrets/mod.ts";
import type { Source } from "../../../src/source/mod.ts";

const never = new AbortController().signal;
const revision = { source: { name: "h/a" } } as Revision;

/** Reads a file of so many bytes, of which decrypting leaves as many as said. */
function read(bytes: number, plain: number | undefined, most: number) {
  const bounds: unknown[] = [];
  const source = {
    read: (_revision: Revision, _path: string, _signal: AbortSignal, mostBytes: number) => {
      bounds.push(mostBytes);
      return Promise.resolve(new Uint8Array(bytes));
    },
  } as unknown as Source;
  const sops: Sops = {
    decrypt: () =>
      Promise.resolve(
        plain === undefined ? undefined : { bytes: new Uint8Array(plain), secrets: [] },
      ),
  };
  return { bounds, all: plainSource(source, sops).read(revision, "a.yaml", never, most) };
}

describe("plainSource().read()", () => {
  it("lets the source refuse by size, with room for what encrypting adds", async () => {
    const { bounds, all } = read(10, undefined, 10);
    assert.equal((await all)?.length, 10);
    assert.deepEqual(bounds, [10 + 1024 * 1024]);
  });

  it("refuses a plain file beyond the bound, and takes an encrypted one", async () => {
    const refused = { code: "config_invalid", message: /a\.yaml has 11 bytes, the most .* 10/ };
    await assert.rejects(read(11, undefined, 10).all, refused);
    assert.equal((await read(11, 7, 10).all)?.length, 7);
  });
});
