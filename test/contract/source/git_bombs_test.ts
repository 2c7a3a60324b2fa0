import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { deflateSync } from "node:zlib";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";
import { itAtLength } from "../../fakes/sample.ts";

/** Runs git in a repository's work tree, with a standard input. */
function git(work: string, input: string, ...args: string[]): string {
  return execFileSync("git", ["-C", work, ...args], { input, encoding: "utf8" }).trim();
}

describe("a commit of a few objects that means very many files", () => {
  let t: TestSource;
  let repository: FakeRepository;
  let work: string;

  beforeEach(async () => {
    t = await createTestSource();
    repository = await createRepository(join(t.directory, "root/a"));
    work = join(t.directory, "root/a/work");
    await repository.commit({ "file": "x\n" });
  });
  afterEach(() => t.close());

  /** Puts a tree at the tip of a repository. */
  const push = async (at: FakeRepository, tree: string) => {
    const commit = await at.git("commit-tree", "-m", "made by hand", tree);
    await at.git("push", "-q", "--force", "origin", `${commit}:refs/heads/main`);
    return commit;
  };
  const refused = async (message: RegExp) => {
    const revision = await t.resolve(repository.url, "main");
    const made = t.source.materialise(revision, never());
    await assert.rejects(made, { code: "source_invalid", message });
  };

  it("is refused, however small the objects are", async () => {
    const blob = await repository.git("rev-parse", "HEAD:file");
    let tree = git(work, `100644 blob ${blob}\tf\n`, "mktree");
    for (let level = 0; level < 10; level++) {
      const entries = Array.from({ length: 10 }, (_, at) => `040000 tree ${tree}\td${at}\n`);
      tree = git(work, entries.join(""), "mktree");
    }
    await push(repository, tree);
    await refused(/more than 200000 files and directories; deploy from a smaller repository$/);
  });

  it("is refused when submodules are in submodules", async () => {
    const other = await createRepository(join(t.directory, "root/a/b"));
    const otherWork = join(t.directory, "root/a/b/work");
    let commit = await other.commit({ "file": "x\n" });
    const names = Array.from({ length: 30 }, (_, at) => `s${at}`);
    const steps = [
      [repository, work, "../b/remote.git"],
      [other, otherWork, "../../remote.git"],
      [repository, work, "../b/remote.git"],
    ] as const;
    for (const [at, to, url] of steps) {
      const modules = names.map((name) => `[submodule "${name}"]\npath = ${name}\nurl = ${url}\n`)
        .join("");
      const blob = git(to, modules, "hash-object", "-w", "--stdin");
      const entries = names.map((name) => `160000 commit ${commit}\t${name}\n`);
      const listing = [`100644 blob ${blob}\t.gitmodules\n`, ...entries].join("");
      commit = await push(at, git(to, listing, "mktree", "--missing"));
    }
    await refused(/more than 500 submodules/);
  });

  it("is refused for the directories of submodules", async () => {
    const other = await createRepository(join(t.directory, "root/a/b"));
    const otherWork = join(t.directory, "root/a/b/work");
    await other.commit({ "file": "x\n" });
    let tree = git(otherWork, "", "rev-parse", "HEAD^{tree}");
    for (let level = 0; level < 300; level++) {
      tree = git(otherWork, `040000 tree ${tree}\td\n`, "mktree");
    }
    const many = Array.from({ length: 300 }, (_, at) => `040000 tree ${tree}\td${at}\n`);
    const commit = await push(other, git(otherWork, many.join(""), "mktree"));
    for (const path of ["s1", "s2", "s3"]) {
      await repository.submodule(path, "../b/remote.git", commit);
    }
    await refused(/more than 200000 files and directories; deploy from a smaller repository$/);
  });

  itAtLength("is refused for paths that are long with those of submodules around", async () => {
    const other = await createRepository(join(t.directory, "root/a/b"));
    const commit = await other.commit({ [`${"b/".repeat(600)}f`]: "x\n" });
    await repository.submodule(`${"a/".repeat(600)}s`, "../b/remote.git", commit);
    await refused(/holds the path "(?:a\/){50}…" of 2403 characters, the most is 2048$/);
  });

  itAtLength(
    "is refused for a submodule at such a path, before anything of it is fetched",
    async () => {
      const other = await createRepository(join(t.directory, "root/a/b"));
      const commit = await other.commit({ "file": "x\n" });
      await other.submodule(`${"b/".repeat(600)}s`, "../../none/remote.git", commit);
      const deep = await other.git("rev-parse", "HEAD");
      await repository.submodule(`${"a/".repeat(600)}s`, "../b/remote.git", deep);
      await refused(/of 2403 characters, the most is 2048$/);
    },
  );

  it("is refused for paths that have many characters together", async () => {
    const other = await createRepository(join(t.directory, "root/a/b"));
    const otherWork = join(t.directory, "root/a/b/work");
    await other.commit({ "file": "x\n" });
    const blob = git(otherWork, "", "rev-parse", "HEAD:file");
    const names = Array.from({ length: 9000 }, (_, at) => `${at}`);
    let tree = git(
      otherWork,
      names.map((each) => `100644 blob ${blob}\t${each}\n`).join(""),
      "mktree",
    );
    for (let level = 0; level < 8; level++) {
      tree = git(otherWork, `040000 tree ${tree}\t${"d".repeat(240)}\n`, "mktree");
    }
    const commit = await push(other, tree);
    for (const path of ["s1", "s2"]) await repository.submodule(path, "../b/remote.git", commit);
    await refused(/more than 33554432 characters, those in submodules included/);
  });

  it("is refused for a list of submodules of half a megabyte", async () => {
    await repository.commit({ ".gitmodules": "#\n".repeat(300_000) });
    await repository.submodule(
      "s",
      "../b/remote.git",
      await repository.git("rev-parse", "HEAD"),
    );
    await refused(/\.gitmodules has 600\d\d\d bytes/);
  });

  it("is refused for a list of submodules that is short, and long as git tells it", async () => {
    const list = `[submodule "${"s".repeat(90_000)}"]\n${"b\n".repeat(640)}`;
    await repository.commit({ ".gitmodules": list });
    const commit = await repository.git("rev-parse", "HEAD");
    const listing = `${git(work, "", "ls-tree", "HEAD")}\n160000 commit ${commit}\ts\n`;
    await push(repository, git(work, listing, "mktree"));
    await refused(/^\.gitmodules has more than 1572864 bytes with the name of its section before/);
  });

  it("is written without a look at what its attributes say, which takes git hours", async () => {
    const patterns = Array.from({ length: 200_000 }, (_, at) => `*a*b*c${at} x\n`).join("");
    const attributes = git(work, patterns, "hash-object", "-w", "--stdin", "--no-filters");
    const blob = await repository.git("rev-parse", "HEAD:file");
    const name = (at: number) => "ab".repeat(60) + at;
    const many = Array.from({ length: 500 }, (_, at) => `100644 blob ${blob}\t${name(at)}\n`);
    const inner = git(
      work,
      `100644 blob ${attributes}\t.gitattributes\n${many.join("")}`,
      "mktree",
    );
    const listing = `100644 blob ${attributes}\t.gitattributes\n040000 tree ${inner}\tü\n`;
    await push(repository, git(work, listing, "mktree"));
    const revision = await t.resolve(repository.url, "main");
    const tree = await t.source.materialise(revision, AbortSignal.timeout(60_000));
    assert.equal(readFileSync(join(tree, "ü", name(7)), "utf8"), "x\n");
    for (const at of [".gitattributes", "ü/.gitattributes"]) {
      assert.equal(readFileSync(join(tree, at), "utf8"), patterns);
    }
  });

  for (const name of [".git", ".GIT", "..", "git~1"]) {
    it(`is refused for attributes at a path that no checkout may have: ${JSON.stringify(name)}`, async () => {
      const blob = await repository.git("rev-parse", "HEAD:file");
      const inner = git(work, `100644 blob ${blob}\t.gitattributes\n`, "mktree");
      await push(repository, git(work, `040000 tree ${inner}\t${name}\n`, "mktree"));
      await refused(/that no checkout may create/);
    });
  }

  it("is refused for a link with a target that no system takes", async () => {
    await repository.commit({ "a": "1" });
    const blob = git(work, "./".repeat(3000), "hash-object", "-w", "--stdin");
    await push(repository, git(work, `120000 blob ${blob}\tlong\n`, "mktree"));
    await refused(/the symbolic link "long" has a target of 6000 bytes/);
  });

  it("is refused for more links, or longer targets, than are looked at", async () => {
    const target = git(work, "./".repeat(2000) + "file", "hash-object", "-w", "--stdin");
    const links = (count: number, id: string) =>
      Array.from({ length: count }, (_, at) => `120000 blob ${id}\tl${at}\n`).join("");
    await push(repository, git(work, links(1000, target), "mktree"));
    await refused(/has 1000 symbolic links with targets of 4004000 bytes, the most are 20000 with/);
    const short = git(work, "file", "hash-object", "-w", "--stdin");
    await push(repository, git(work, links(20_001, short), "mktree"));
    await refused(/has 20001 symbolic links/);
  });

  it("is refused before it is deployed when directories on the way to a path are too large", async () => {
    const blob = await repository.git("rev-parse", "HEAD:file");
    const many = Array.from({ length: 70_000 }, (_, at) => `100644 blob ${blob}\t${at}\n`).join("");
    let tree = git(work, many, "mktree");
    for (const name of ["c", "b", "a"]) {
      tree = git(work, `${many}040000 tree ${tree}\t${name}\n`, "mktree");
    }
    await push(repository, tree);
    const revision = await t.resolve(repository.url, "main");
    assert.equal((await t.source.entries(revision, ["a/69999"], never())).size, 1);
    await assert.rejects(t.source.entries(revision, ["a/b/c/1"], never()), {
      code: "source_invalid",
      message: /more than 200000 files and directories/,
    });
  });

  it("is refused for a name that is a file and a directory, with the name", async () => {
    const blob = await repository.git("rev-parse", "HEAD:file");
    const inner = git(work, `100644 blob ${blob}\tf\n`, "mktree");
    const entry = (mode: string, id: string) =>
      Buffer.concat([Buffer.from(`${mode} a\0`), Buffer.from(id, "hex")]);
    const input = Buffer.concat([entry("100644", blob), entry("40000", inner)]);
    const args = ["-C", work, "hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
    await push(repository, execFileSync("git", args, { input, encoding: "utf8" }).trim());
    await refused(/the tree holds two entries of the name "a"/);
  });

  describe("with GIT_MAX_BYTES", () => {
    const MOST = 1024 * 1024;
    let bounded: TestSource;
    beforeEach(async () => {
      bounded = await createTestSource({ options: { mostBytes: MOST } });
    });
    afterEach(() => bounded.close());

    /** Every file below the data directory with more bytes than are allowed, or only half received. */
    const left = async () => {
      const names = await readdir(bounded.dataDir, { recursive: true });
      const sizes = await Promise.all(names.map(async (name) => ({
        name,
        size: (await stat(join(bounded.dataDir, name))).size,
      })));
      return sizes.filter(({ name, size }) =>
        size > MOST || /(?:^|\/)(?:\.tmp-|tmp_)[^/]*$/.test(name)
      );
    };

    it("is refused for more than may be fetched at once, and nothing of it stays", async () => {
      const good = await bounded.resolve(repository.url, "main");
      await repository.commit({ "large": new Uint8Array(randomBytes(2 * MOST)) });
      const limit = {
        code: "source_invalid",
        message:
          /1048576 bytes of GIT_MAX_BYTES, or takes more than the 300 seconds .* GIT_MAX_CPU_SECONDS, or/,
      };
      await assert.rejects(bounded.resolve(repository.url, "main"), limit);
      assert.deepEqual(await left(), []);
      const fresh = await createTestSource({ options: { mostBytes: MOST } });
      await assert.rejects(fresh.resolve(repository.url, "main"), limit);
      await fresh.close();
      assert.ok(await bounded.source.materialise(good, never()));
      await repository.git("reset", "-q", "--hard", "HEAD~1");
      await repository.git("push", "-q", "--force", "origin", "HEAD:main");
      assert.equal((await bounded.resolve(repository.url, "main")).id, good.id);
    });

    it("is refused for a few bytes that mean very many", async () => {
      await repository.commit({ "zeros": new Uint8Array(2 * MOST) });
      const revision = await bounded.resolve(repository.url, "main");
      await assert.rejects(bounded.source.materialise(revision, never()), {
        code: "source_invalid",
        message: /^the files of the tree have more than the 1048576 bytes of GIT_MAX_BYTES; /,
      });
      assert.deepEqual(await left(), []);
    });
  });
});

describe("an object for which git has not enough memory", () => {
  it("is refused, and its mirror is not taken for damaged", async () => {
    const t = await createTestSource();
    const repository = await createRepository(join(t.directory, "remote"));
    await repository.commit({
      "large": new Uint8Array(randomBytes(24 * 1024 * 1024)),
      "small": "x",
    });
    const revision = await t.resolve(repository.url, "main");
    const options = { mostMemory: 16 * 1024 * 1024 };
    const bounded = await createTestSource({ dataDir: t.dataDir, options });
    try {
      await assert.rejects(bounded.source.read(revision, "large", never(), 1 << 25), {
        code: "source_invalid",
        message: /takes more memory than git may have/,
      });
      assert.ok(await bounded.source.read(revision, "small", never(), 1 << 25));
      assert.deepEqual([bounded.count("fetch"), bounded.warnings], [0, []]);
    } finally {
      await bounded.close();
      await t.close();
    }
  });
});

describe("a small file that git makes out of a large one", () => {
  itAtLength("is read, and the large one stays in no memory", {
    skip: !existsSync("/proc/self/statm"),
  }, async () => {
    const t = await createTestSource();
    const repository = await createRepository(join(t.directory, "remote"));
    const remote = new URL(repository.url).pathname;
    const large = Buffer.alloc(80 * 1024 * 1024);
    const input = packOf(large, [[...[large.length, 5].map(size), Buffer.from("\x05tiny\n")]]);
    execFileSync("git", ["-C", remote, "index-pack", "--stdin"], { input });
    const treeOf = (content: Uint8Array) =>
      git(remote, `100644 blob ${idOf(content).toString("hex")}\tfile\n`, "mktree");
    const commit = (tree: string, ...more: string[]) =>
      git(remote, "x", "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", ...more, tree);
    // The large one has to be sent: what it leads to is a delta of it then, as it is here.
    const before = commit(treeOf(large));
    const tip = commit(treeOf(Buffer.from("tiny\n")), "-p", before);
    git(remote, "", "update-ref", "refs/heads/main", tip);
    try {
      const revision = await t.resolve(repository.url, "main");
      const read = await t.source.read(revision, "file", never(), 1000);
      assert.equal(Buffer.from(read ?? []).toString(), "tiny\n");
      const readers = (await readdir("/proc")).filter((pid) => {
        const words = /^\d+$/.test(pid) ? procText(`/proc/${pid}/cmdline`).split("\0") : [];
        return words.includes("cat-file") && words.some((each) => each.includes(t.dataDir));
      });
      for (const pid of readers) {
        const [, kilobytes] = /^RssAnon:\s+(\d+)/m.exec(procText(`/proc/${pid}/status`)) ?? [];
        assert.ok(Number(kilobytes ?? 0) < 64 * 1024, `${kilobytes} KB`);
      }
      assert.deepEqual(t.warnings, []);
    } finally {
      await t.close();
    }
  });
});

describe("a search for a commit among references of any depth", () => {
  itAtLength("writes one small file for each commit that they lead to", async () => {
    const t = await createTestSource();
    const repository = await createRepository(join(t.directory, "many"));
    const commit = await repository.commit({ "file": "x\n" });
    const names = Array.from({ length: 300 }, (_, at) => `refs/heads/r${at}/${"a/".repeat(90)}x`);
    const input = names.map((name) => `create ${name} ${commit}\n`).join("");
    git(new URL(repository.url).pathname, input, "update-ref", "--stdin");
    await assert.rejects(t.resolve(repository.url, "0".repeat(39) + "1"), {
      code: "reference_not_found",
      message: /is not in any branch or tag/,
    });
    const written = await readdir(t.dataDir, { recursive: true });
    assert.ok(written.length < 100, `${written.length} files and directories`);
    await t.close();
  });
});

describe("a remote that lists references without end", () => {
  let server: Server;
  let bounded: TestSource;
  beforeEach(async () => {
    server = createServer((_request, response) => {
      const type = "application/x-git-upload-pack-advertisement";
      response.writeHead(200, { "content-type": type });
      const list = Readable.from(references()).on("error", () => {});
      response.on("close", () => list.destroy());
      list.pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    bounded = await createTestSource({ options: { mostMemory: 128 * 1024 * 1024 } });
  });
  afterEach(async () => {
    await bounded.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  it("is refused before git has taken the machine's memory", async () => {
    const { port } = server.address() as AddressInfo;
    await assert.rejects(
      bounded.resolve(`http://127.0.0.1:${port}/a.git`, "main"),
      /more memory than git may have|bytes of memory/,
    );
  });
});

/** Every deviation of the pack means 64 MiB; whoever takes it looks at all of them. */
describe("a remote that sends a few bytes which take minutes to look at", () => {
  const commit = "a".repeat(40);
  const pack = packOfDeviations(400, 8);
  let server: Server;
  let bounded: TestSource;
  beforeEach(async () => {
    server = createServer((request, response) => {
      const isList = request.method === "GET";
      const type = isList ? "advertisement" : "result";
      response.writeHead(200, { "content-type": `application/x-git-upload-pack-${type}` });
      const line = `${commit} refs/heads/main\0agent=x\n`;
      request.resume().on("end", () => {
        const length = (line.length + 4).toString(16).padStart(4, "0");
        const list = `001e# service=git-upload-pack\n0000${length}${line}0000`;
        response.end(isList ? list : Buffer.concat([Buffer.from("0008NAK\n"), pack]));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    bounded = await createTestSource({ options: { mostProcessorSeconds: 1 } });
  });
  afterEach(async () => {
    await bounded.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  it("is refused after the time that it may take", async (context) => {
    if (!existsSync("/usr/bin/prlimit")) return context.skip("there is no prlimit to bound git");
    const { port } = server.address() as AddressInfo;
    await assert.rejects(
      bounded.resolve(`http://127.0.0.1:${port}/a.git`, "main"),
      {
        code: "source_invalid",
        message: /takes more than the 1 seconds of processor time of GIT_MAX_CPU_SECONDS/,
      },
    );
  });
});

/** A pack with one object of 8 MiB of zeros, and deviations from it that repeat it `times` times. */
function packOfDeviations(count: number, times: number): Uint8Array {
  const base = Buffer.alloc(8 * 1024 * 1024);
  // All of the base but its last byte: a length of three bytes can say that.
  const copy = Buffer.from([0xf0, 0xff, 0xff, 0x7f]);
  const deltas = Array.from({ length: count }, (_, index) => {
    const own = Buffer.alloc(5, 4);
    own.writeUInt32BE(index, 1);
    const lengths = [base.length, times * 0x7fffff + 4].map(size);
    return [...lengths, ...Array.from({ length: times }, () => copy), own];
  });
  return packOf(base, deltas);
}

/** A pack with a file, and with deltas of it. */
function packOf(base: Buffer, deltas: readonly (readonly Buffer[])[]): Uint8Array {
  const objects = [Buffer.concat([header(3, base.length), deflateSync(base)])];
  for (const parts of deltas) {
    const delta = Buffer.concat(parts);
    objects.push(Buffer.concat([header(7, delta.length), idOf(base), deflateSync(delta)]));
  }
  const head = Buffer.alloc(12);
  head.write("PACK");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const bytes = Buffer.concat([head, ...objects]);
  return Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]);
}

/** The id of a file. */
function idOf(content: Uint8Array): Buffer {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest();
}

/** A file of `/proc`; empty for a process that has ended. */
function procText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Kind and length of an object of a pack. */
function header(kind: number, length: number): Buffer {
  const rest = Math.floor(length / 16);
  const first = kind * 16 + length % 16;
  return rest === 0
    ? Buffer.from([first])
    : Buffer.concat([Buffer.from([first + 128]), size(rest)]);
}

/** A length in pieces of seven bits, the smallest first. */
function size(length: number): Buffer {
  const pieces: number[] = [];
  let rest = length;
  for (; rest > 127; rest = Math.floor(rest / 128)) pieces.push(rest % 128 + 128);
  return Buffer.from([...pieces, rest]);
}

function* references(): Generator<string> {
  const packet = (line: string) => (line.length + 4).toString(16).padStart(4, "0") + line;
  yield `${packet("# service=git-upload-pack\n")}0000`;
  const id = "a".repeat(40);
  const lines = Array.from(
    { length: 1000 },
    (_, index) => packet(`${id} refs/heads/${"x".repeat(900)}${index}\n`),
  );
  for (const text = lines.join("");;) yield text;
}
