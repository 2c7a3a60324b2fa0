import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isStackwrightError, stackKey } from "../../../src/model/mod.ts";
import { INSTANCE_KEY_FILE, InstanceKey, loadInstanceKey } from "../../../src/record/mod.ts";
import { type Files, systemFiles } from "../../../src/system/mod.ts";

const secret = new Uint8Array(32).fill(7);
const key = new InstanceKey(secret);
const other = new InstanceKey(new Uint8Array(32).fill(8));
const TEXT = "canary-4711 ü\n".repeat(20);

const isUnusable = (error: unknown) => {
  assert.ok(isStackwrightError(error, "ledger_unusable"), String(error));
  assert.match(error.message, /instance\.key is not the key it was sealed with/);
  assert.doesNotMatch(error.message, /canary/);
  return true;
};

describe("InstanceKey", () => {
  it("digest() is stable, 32 hex digits, and another one for another text or key", () => {
    assert.match(key.digest("a"), /^[0-9a-f]{32}$/);
    assert.equal(key.digest("a"), new InstanceKey(secret).digest("a"));
    assert.notEqual(key.digest("a"), key.digest("b"));
    assert.notEqual(key.digest("a"), key.digest(""));
    assert.notEqual(key.digest("a"), other.digest("a"));
  });

  it("shown() is another digest in every stack, and none that is recorded", () => {
    const [shop, blog] = [stackKey("default", "shop"), stackKey("default", "blog")];
    assert.match(key.shown(shop, "a"), /^[0-9a-f]{32}$/);
    assert.equal(key.shown(shop, "a"), new InstanceKey(secret).shown(shop, "a"));
    const all = [shop, blog, stackKey("far", "shop"), stackKey("default/s", "hop")]
      .flatMap((stack) => [key.shown(stack, "a"), key.shown(stack, "b")]);
    const forged = key.digest(JSON.stringify(["default", "shop", "a"]));
    assert.equal(new Set([...all, key.digest("a"), forged, other.shown(shop, "a")]).size, 11);
  });

  it("digest() stays what it was in every version: a change would recreate every container", () => {
    // HKDF (RFC 5869) and HMAC-SHA-256, worked out with another implementation.
    assert.equal(key.digest("stackwright"), "4b80fac101ac15b9eba2fc7b9a945a89");
  });

  for (const text of ["", "x", TEXT, "\u0000\ud83d\ude00"]) {
    it(`seal() and open() keep ${JSON.stringify(text).slice(0, 30)}`, () => {
      assert.equal(key.open(key.seal(text)), text);
    });
  }

  it("seal() never gives the same bytes twice, and none of the text", () => {
    const sealed = key.seal(TEXT);
    assert.notDeepEqual(sealed, key.seal(TEXT));
    assert.equal(Buffer.from(sealed).includes("canary"), false);
  });

  it("seal() makes a model smaller than a fifth", () => {
    const service = { image: "registry.example/team/web:1", environment: { A: "b" } };
    const services = Array.from({ length: 50 }, (_, index) => [`web-${index}`, service]);
    const text = JSON.stringify({ model: { services: Object.fromEntries(services) } });
    assert.ok(key.seal(text).length < text.length / 5);
  });

  it("open() opens what was sealed before texts were compressed", () => {
    // {"model":{}} under the key of these tests, sealed by the version before.
    const old = "273788135bb3633cb6f7eb543881aed8eb4ab0069184e5ebdfe1d4f778aa880c6ebccc93bcf0a534";
    assert.equal(key.open(Buffer.from(old, "hex")), '{"model":{}}');
  });

  it("open() refuses what another key sealed", () => {
    assert.throws(() => other.open(key.seal(TEXT)), isUnusable);
  });

  it("open() refuses bytes of which any was changed", () => {
    const sealed = key.seal("short");
    for (const index of sealed.keys()) {
      const damaged = Uint8Array.from(sealed);
      damaged[index] = (damaged[index] ?? 0) ^ 1;
      assert.throws(() => key.open(damaged), isUnusable);
    }
  });

  it("open() refuses bytes that were cut off", () => {
    const sealed = key.seal("short");
    for (const length of [0, 1, 12, 27, 28, sealed.length - 1]) {
      assert.throws(() => key.open(sealed.subarray(0, length)), isUnusable);
    }
  });
});

describe("loadInstanceKey", () => {
  it("loadInstanceKey() makes a key once, for its owner alone, and reads it from then on", async () => {
    await inDirectory(async (directory) => {
      const first = await loadInstanceKey(systemFiles, directory);
      const path = join(directory, INSTANCE_KEY_FILE);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      const text = await readFile(path, "utf8");
      assert.match(text, /^[0-9a-f]{64}\n$/);
      const second = await loadInstanceKey(systemFiles, directory);
      assert.equal(second.digest("a"), first.digest("a"));
      assert.equal(await readFile(path, "utf8"), text);
      assert.equal(second.open(first.seal(TEXT)), TEXT);
    });
  });

  it("loadInstanceKey() makes one key for two processes that make it at once", async () => {
    await inDirectory(async (directory) => {
      let first: InstanceKey | undefined;
      const files: Files = {
        ...systemFiles,
        async write(path, data, options) {
          // The other one is through between its look for a key and its own.
          first ??= await loadInstanceKey(systemFiles, directory);
          await systemFiles.write(path, data, options);
        },
      };
      const second = await loadInstanceKey(files, directory);
      assert.equal(second.digest("a"), first?.digest("a"));
      assert.equal((await loadInstanceKey(systemFiles, directory)).digest("a"), second.digest("a"));
      assert.deepEqual(await readdir(directory), [INSTANCE_KEY_FILE]);
    });
  });

  it("loadInstanceKey() makes a key where a file system has no links", async () => {
    await inDirectory(async (directory) => {
      const files: Files = { ...systemFiles, link: () => Promise.reject(new Error("EPERM")) };
      const first = await loadInstanceKey(files, directory);
      assert.equal((await loadInstanceKey(files, directory)).digest("a"), first.digest("a"));
      assert.deepEqual(await readdir(directory), [INSTANCE_KEY_FILE]);
    });
  });

  it("loadInstanceKey() makes another key in every directory", async () => {
    await inDirectory(async (one) => {
      await inDirectory(async (two) => {
        const keys = [
          await loadInstanceKey(systemFiles, one),
          await loadInstanceKey(systemFiles, two),
        ];
        assert.notEqual(keys[0]?.digest("a"), keys[1]?.digest("a"));
      });
    });
  });

  const refused = ["", "\n", "ab", "g".repeat(64), "ab".repeat(32) + " x", "AB".repeat(31)];
  for (const text of refused) {
    it(`loadInstanceKey() refuses ${JSON.stringify(text).slice(0, 20)} and leaves it there`, async () => {
      await inDirectory(async (directory) => {
        const path = join(directory, INSTANCE_KEY_FILE);
        await writeFile(path, text);
        await assert.rejects(loadInstanceKey(systemFiles, directory), (error) => {
          assert.ok(isStackwrightError(error, "data_dir_unusable"));
          assert.ok(error.message.startsWith(`${path} is not an instance key`));
          assert.equal(text.length > 3 && error.message.includes(text.slice(0, 20)), false);
          return true;
        });
        assert.equal(await readFile(path, "utf8"), text);
      });
    });
  }
});

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-key-"));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
