import assert from "node:assert/strict";
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { type Revision, StackwrightError } from "../../../src/model/mod.ts";
import { createEncryptedFiles, requirePlain, withSecrets } from "../../../src/prepare/mod.ts";
import type { SealedFile } from "../../../src/secrets/mod.ts";
import type { Source, TreeEntry } from "../../../src/source/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const never = new AbortController().signal;
const revision = { source: { name: "h/a" } } as Revision;

/** A tree on disk with a source that has the same files, and a decrypter that counts. */
async function withTree(
  committed: Readonly<Record<string, string>>,
  work: (place: Awaited<ReturnType<typeof makeTree>>) => Promise<void>,
): Promise<void> {
  const place = await makeTree(committed);
  try {
    await work(place);
  } finally {
    await rm(place.directory, { recursive: true });
  }
}

async function makeTree(committed: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(join(tmpdir(), "swt-encrypted-"));
  const tree = join(directory, "trees/one");
  for (const [path, text] of Object.entries(committed)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), text, { mode: 0o640 });
  }
  const asked: string[] = [];
  const isModule = (path: string) => path === "module" || path.startsWith("module/");
  const source = {
    list(_: Revision, path: string) {
      const at = Object.keys(committed).filter((each) =>
        path === "." || each === path || each.startsWith(`${path}/`)
      );
      // Submodules further below are one entry each.
      const entries = at.filter((each) => isModule(path) || !isModule(each)).map((
        each,
      ): [string, TreeEntry] => [
        each,
        { kind: "file", id: `id of ${committed[each]}` },
      ]);
      const module: [string, TreeEntry][] = at.some(isModule) && path === "."
        ? [["module", { kind: "submodule", id: "m" }]]
        : [];
      return Promise.resolve(new Map([...entries, ...module]));
    },
    entries(_: Revision, paths: readonly string[]) {
      const kindOf = (path: string) =>
        path === "." || Object.keys(committed).some((each) => each.startsWith(`${path}/`))
          ? "directory"
          : "file";
      const known = paths.filter((path) =>
        kindOf(path) === "directory" || committed[path] !== undefined
      );
      return Promise.resolve(
        new Map(known.map((each): [string, TreeEntry] => [
          each,
          { kind: kindOf(each), id: `id of ${committed[each]}` },
        ])),
      );
    },
    read: (_: Revision, path: string) => {
      asked.push(path);
      return Promise.resolve(new TextEncoder().encode(committed[path]));
    },
  } as unknown as Source;
  const sops = {
    decrypt({ name, bytes }: SealedFile) {
      const text = new TextDecoder().decode(bytes);
      if (text.startsWith("BAD ")) throw new StackwrightError("config_invalid", `${name} is bad`);
      if (!text.startsWith("ENC ")) return Promise.resolve(undefined);
      const plain = text.slice(4);
      return Promise.resolve({ bytes: new TextEncoder().encode(plain), secrets: plain.split(",") });
    },
  };
  const digest = (text: string) => `digest of ${text.length} ${text.slice(0, 4)}`;
  const parts = { source, sops, files: systemFiles, digest };
  const read = (path: string) => readFile(join(tree, path), "utf8");
  return { directory, tree, asked, read, encrypted: createEncryptedFiles(parts) };
}

describe("createEncryptedFiles()", () => {
  it("reveal() decrypts what is used, keeps its mode, and leaves the rest and other trees alone", async () => {
    const files = { "a.env": "ENC a", "d/b": "ENC b", "d/c": "plain", other: "ENC other" };
    await withTree(files, async ({ tree, directory, encrypted, read }) => {
      await link(join(tree, "a.env"), join(directory, "shared"));
      const paths = ["a.env", "d", "none"];
      const first = await encrypted.reveal({ revision, tree, owner: "", paths }, never);
      assert.deepEqual([...first.identities.keys()].sort(), ["a.env", "d/b"]);
      assert.deepEqual([...first.secrets].sort(), ["a", "b"]);
      assert.deepEqual(
        await Promise.all(["a.env", "d/b", "d/c", "other"].map(read)),
        ["a", "b", "plain", "ENC other"],
      );
      assert.equal((await stat(join(tree, "a.env"))).mode & 0o777, 0o640);
      assert.equal(await readFile(join(directory, "shared"), "utf8"), "ENC a");
      assert.deepEqual(await readdir(join(directory, "trees")), ["one"]);

      const inode = (await stat(join(tree, "a.env"))).ino;
      const again = await encrypted.reveal({ revision, tree, owner: "", paths }, never);
      assert.deepEqual(again.identities, first.identities);
      assert.equal((await stat(join(tree, "a.env"))).ino, inode);
    });
  });

  it("reveal() looks into a plain file once, whatever tree it is in", async () => {
    await withTree({ a: "plain", b: "ENC b" }, async ({ tree, encrypted, asked }) => {
      await encrypted.reveal({ revision, tree, owner: "", paths: ["."] }, never);
      await encrypted.reveal({ revision, tree, owner: "", paths: ["."] }, never);
      assert.deepEqual(asked.sort(), ["a", "b", "b"]);
    });
  });

  it("reveal() refuses files that have too many texts together, also where failures are tolerated", async () => {
    const texts = (file: string) => Array.from({ length: 4000 }, (_, at) => `${file}${at}`).join();
    const names = ["a", "b", "c", "d", "e", "f"];
    const files = Object.fromEntries(names.map((name) => [name, `ENC ${texts(name)}`]));
    await withTree(files, async ({ tree, encrypted }) => {
      const reveal = (paths: readonly string[]) =>
        encrypted.reveal({ revision, tree, owner: "", paths, tolerant: true }, never);
      assert.equal((await reveal(names.slice(1))).secrets.size, 20_000);
      await assert.rejects(reveal(["."]), {
        code: "config_invalid",
        message:
          /have more than 20000 texts that must not be shown; name what compose reads without/,
      });
    });
  });

  it("reveal() decrypts files of submodules", async () => {
    await withTree(
      { "module/x": "ENC x", "module/y/z": "ENC z" },
      async ({ tree, encrypted, read }) => {
        await encrypted.reveal({ revision, tree, owner: "", paths: ["module/x"] }, never);
        assert.equal(await read("module/x"), "x");
        for (const _ of ["first", "again"]) {
          const found = await encrypted.reveal({ revision, tree, owner: "", paths: ["."] }, never);
          assert.deepEqual([...found.identities.keys()].sort(), ["module/x", "module/y/z"]);
        }
        assert.equal(await read("module/y/z"), "z");
      },
    );
  });

  it("reveal() fails for a file that cannot be decrypted, or leaves it when that is tolerated", async () => {
    await withTree({ a: "ENC a", b: "BAD b" }, async ({ tree, encrypted, read }) => {
      await assert.rejects(
        encrypted.reveal({ revision, tree, owner: "", paths: ["b"] }, never),
        /b is bad/,
      );
      const job = { revision, tree, owner: "", paths: ["."], tolerant: true };
      const { failures, identities } = await encrypted.reveal(job, never);
      assert.deepEqual(failures.map((each) => each.message), ["b is bad"]);
      assert.deepEqual([...identities.keys()], ["a"]);
      assert.equal(await read("b"), "BAD b");
    });
  });
});

describe("requirePlain()", () => {
  it("requirePlain() names the place of a value that is still encrypted, and why", () => {
    const model = { services: { web: { environment: { A: "x", B: "y ENC[AES256_GCM,data:…]" } } } };
    const failures = [new StackwrightError("unsupported", "x.env needs a key")];
    assert.throws(
      () => requirePlain(model, { failures }),
      /^StackwrightError: services\.web\.environment\.B is still encrypted: x\.env needs a key$/,
    );
    assert.throws(() => requirePlain(model, { failures: [] }), /no complete SOPS file/);
    requirePlain({ services: { web: { environment: { A: "x" } } } }, { failures });
  });
});

describe("withSecrets()", () => {
  const invocation = { environment: { OTHER: "known-4711" }, envFiles: [], profiles: [] };
  const model = { services: { web: { environment: { URL: 'db://u:canary"1@h', A: "kno$$wn" } } } };
  const hides = () => false;

  it("withSecrets() keeps those decrypted texts that stand in the model", async () => {
    const decrypted = ['canary"1', "canary-2", "web", 'canary"1'];
    const found = await withSecrets(invocation, model, { hidden: [], others: decrypted, hides });
    assert.deepEqual(found.secrets, ['canary"1']);
    const none = await withSecrets(invocation, model, {
      others: ["canary-2"],
      hidden: [],
      hides,
    });
    assert.equal(none, invocation);
  });

  it("withSecrets() keeps what files have in the clear, and what is known as a secret already", async () => {
    const known = ["known-4711", "kno$wn", "elsewhere"];
    const hides = (text: string) => known.includes(text);
    const found = await withSecrets(invocation, model, {
      others: [],
      hidden: ["in-a-file"],
      hides,
    });
    assert.deepEqual(found.secrets, ["in-a-file", "kno$wn", "known-4711"]);
  });
});
