import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { isLfsPointer } from "../../../src/source/trees/warn_of_pointers.ts";
import { reachedDepth } from "../../../src/source/git/mirror_content.ts";
import { checkLinks } from "../../../src/source/trees/tree_links.ts";
import { longestStretch, processorMs, takesAtMost } from "../processor_time.ts";
import { parseTreeListing, parseTreeObject } from "../../../src/source/git/tree_object.ts";

const id = "0123456789abcdef0123456789abcdef01234567";
const bytes = (text: string) => new TextEncoder().encode(text);

describe("parseTreeObject()", () => {
  const entry = (mode: string, name: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
  it("reads names, kinds and ids", async () => {
    const tree = await parseTreeObject(Buffer.concat([
      entry("100644", "a b"),
      entry("100755", "x"),
      entry("100664", "old"),
      entry("40000", "d"),
      entry("120000", "l"),
      entry("160000", "s"),
      entry("60000", "device"),
      entry("100000000000000000000120000", "long"),
    ]));
    assert.deepEqual([...tree].map(([name, { kind }]) => [name, kind]), [
      ["a b", "file"],
      ["x", "executable"],
      ["old", "file"],
      ["d", "directory"],
      ["l", "symlink"],
      ["s", "submodule"],
      ["device", "submodule"],
      ["long", "symlink"],
    ]);
    assert.equal(tree.get("a b")?.id, id);
  });
  it("refuses a name that is longer than a path may be", async () => {
    assert.equal((await parseTreeObject(entry("100644", "é".repeat(2048)))).size, 1);
    for (const name of ["x".repeat(2049), "x".repeat(1_000_000)]) {
      const tree = parseTreeObject(Buffer.concat([entry("100644", "a"), entry("100644", name)]));
      const message = RegExp(`holds the path "x{100}…" of ${name.length} characters`);
      await assert.rejects(tree, { code: "source_invalid", message });
    }
  });
  it("reads the empty tree", async () => {
    assert.equal((await parseTreeObject(new Uint8Array())).size, 0);
  });
  it("keeps nothing waiting with as many entries as there may be", async () => {
    const entries = Array.from({ length: 200_000 }, (_, at) => entry("100644", `file-${at}`));
    await requirePauses(() => parseTreeObject(Buffer.concat(entries)));
  });
});

/** Reading that is one stretch from its first wait on fails. */
async function requirePauses(read: () => Promise<unknown>): Promise<void> {
  const began = processorMs();
  const longest = await longestStretch(read);
  const whole = processorMs() - began;
  assert.ok(longest < whole / 2, `${longest} of ${whole} ms in one go`);
}

describe("parseTreeListing()", () => {
  it("reads sizes and odd names", async () => {
    const listing = await parseTreeListing(bytes(
      `100644 blob ${id}      12\ta\tb\n c\u0000160000 commit ${id}       -\tsub\u0000`,
    ));
    assert.deepEqual(listing.get("a\tb\n c"), { kind: "file", id, size: 12 });
    assert.deepEqual(listing.get("sub"), { kind: "submodule", id, size: 0 });
  });
  for (const path of ["../x", "a/../b", "./x", "a//b", ".git/config", "a/.GIT/x", "/x"]) {
    it(`refuses ${path}`, async () => {
      const listing = bytes(`100644 blob ${id} 1\t${path}\u0000`);
      await assert.rejects(parseTreeListing(listing), { code: "source_invalid" });
    });
  }
  it("refuses a path that no system takes, and shows its beginning only", async () => {
    const listing = bytes(`100644 blob ${id} 1\t${"directory/".repeat(300)}f\u0000`);
    await assert.rejects(parseTreeListing(listing), (error: Error) => {
      assert.match(error.message, /^the tree holds the path "directory\/.*…" of 3001 characters/);
      return error.message.length < 300;
    });
  });
  const twice = [["a", "a"], ["a", "a/b"], ["a", "a-b", "a/b/c"], ["a/b", "a"], ["x/a/b", "x/a"]];
  for (const paths of twice) {
    it(`refuses ${paths.join(" beside ")}: a name is a file or a directory, and there once`, async () => {
      const listing = bytes(paths.map((path) => `100644 blob ${id} 1\t${path}\u0000`).join(""));
      await assert.rejects(parseTreeListing(listing), {
        code: "source_invalid",
        message: /^the tree holds two entries of the name "(?:x\/)?a"; .*git fsck/,
      });
    });
  }
  const line = (path: string) => `100644 blob ${id} 1\t${path}\u0000`;
  it("refuses more than it can look at: files, and directories around few files", async () => {
    const files = Array.from({ length: 200_001 }, (_, at) => line(`f${at}`));
    await assert.rejects(parseTreeListing(bytes(files.join(""))), { message: /more than 200000/ });
    const deep = Array.from({ length: 300 }, (_, at) => line(`d${at}/${"x/".repeat(800)}f`));
    await assert.rejects(parseTreeListing(bytes(deep.join(""))), { message: /more than 200000/ });
    assert.equal((await parseTreeListing(bytes(deep.slice(0, 200).join("")))).size, 200);
  });
  it("keeps nothing waiting with as many entries as there may be", async () => {
    const files = Array.from({ length: 190_000 }, (_, at) => line(`directory-${at % 1000}/f${at}`));
    await requirePauses(() => parseTreeListing(bytes(files.join(""))));
  });
});

describe("checkLinks()", () => {
  const check = (links: Record<string, string>) => checkLinks(new Map(Object.entries(links)));
  for (
    const links of [
      { a: "b" },
      { "a/b/c": "../../x" },
      { "a/b": ".." },
      { a: "a" },
      { a: "b", b: "a" },
      { a: "./b/../c" },
      { a: "not/there" },
      { a: "..foo/x" },
      { "x/up": "..", "y": "x/up/z" },
    ]
  ) {
    it(`allows ${JSON.stringify(links)}`, () => check(links));
  }
  for (
    const links of [
      { evil: "" },
      { evil: "/etc" },
      { evil: ".." },
      { evil: "..\0x" },
      { evil: "../x" },
      { "a/evil": "../../x" },
      { evil: "a/../../x" },
      { "d": "x/y/z", "evil": "d/../../../../w" },
      { "x/y/up": "../..", "evil": "x/y/up/../w" },
      { "abs": "b", "b": "/etc", "evil": "b/passwd" },
    ]
  ) {
    it(`refuses ${JSON.stringify(links)}`, async () => {
      await assert.rejects(check(links), { code: "path_escapes", message: /points to "/ });
    });
  }
  it("refuses links that make ways through each other endless", async () => {
    const around = "x/../".repeat(800);
    const links = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`l${at}`, `${around}l${at + 1}`]),
    );
    await assert.rejects(check(links), {
      code: "source_invalid",
      message: /lead through each other/,
    });
  });
  for (const nothing of ["/", "./"]) {
    it(`walks ways with thousands of "${nothing}" once, however many links lead there`, async () => {
      const way = nothing.repeat(Math.floor(4000 / nothing.length));
      const chain = Array.from({ length: 38 }, (_, at) => [`c${at + 1}`, `c${at}${way}`]);
      const users = Array.from({ length: 1500 }, (_, at) => [`l${at}`, "c38"]);
      const before = processorMs();
      await check(Object.fromEntries([...chain, ...users]));
      const took = processorMs() - before;
      assert.ok(took < 500, `${took} ms`);
    });
  }
  it("pays for steps upwards", async () => {
    const deep = "d/".repeat(40);
    const links = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`${deep}l${at}`, `${"x/../".repeat(700)}y`]),
    );
    await assert.rejects(check(links), { code: "source_invalid" });
  });
  it("names the link and its target", async () => {
    await assert.rejects(check({ "a/evil": "../../x" }), /"a\/evil" points to "\.\.\/\.\.\/x"/);
  });
  it("pays for the paths of links, wherever they lead", async () => {
    const deep = "a/".repeat(1018);
    for (const target of [".", "..", "./b/.."]) {
      const links = Object.fromEntries(
        Array.from({ length: 14_000 }, (_, at) => [`${deep}${at}`, target]),
      );
      const refused = () => assert.rejects(check(links), { code: "source_invalid" });
      assert.ok(await takesAtMost(200, refused), target);
    }
  });
  it("keeps nothing waiting with as many ordinary links as there may be", async () => {
    const links = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [
        `node_modules/.bin/command-${at}`,
        `../package-${at}/bin/command.js`,
      ]),
    );
    await requirePauses(() => check(links));
  });
});

describe("reachedDepth()", () => {
  const listing = "c b\nb a x\na\nx\n";
  it("counts to the nearest cut", async () => {
    assert.equal(await reachedDepth("c", listing, "a\n"), 3);
    assert.equal(await reachedDepth("c", listing, "c\n"), 1);
    assert.equal(await reachedDepth("c", listing, "b\na\n"), 2);
  });
  it("is infinite when nothing was cut", async () => {
    assert.equal(await reachedDepth("c", listing, "elsewhere\n"), Infinity);
  });
  it("pauses during long histories", async () => {
    const name = (each: number) => each.toString(16).padStart(40, "0");
    const lines = Array.from({ length: 200_000 }, (_, each) => `${name(each)} ${name(each + 1)}\n`);
    await requirePauses(async () => {
      assert.equal(await reachedDepth(name(0), lines.join(""), name(200_000)), 200_001);
    });
  });
});

describe("isLfsPointer()", () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${
    "a".repeat(64)
  }\nsize 1\n`;
  it("knows pointers from texts about them", () => {
    assert.ok(isLfsPointer(bytes(pointer)));
    assert.ok(!isLfsPointer(bytes(`see: ${pointer}`)));
    assert.ok(!isLfsPointer(bytes(pointer + "x".repeat(2000))));
  });
});
