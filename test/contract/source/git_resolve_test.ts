import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { sourceLocation } from "../../../src/source/mod.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { startGitHttpServer } from "../../fakes/git_http_server.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";

describe("GitSource.resolve()", () => {
  let t: TestSource;
  let repository: FakeRepository;
  let first: string;

  beforeEach(async () => {
    t = await createTestSource();
    repository = await createRepository(join(t.directory, "remote"));
    first = await repository.commit({ "a.txt": "one\n" });
  });
  afterEach(() => t.close());

  it("finds branches, tags, HEAD and commits by every kind of name", async () => {
    await repository.tag("v1");
    await repository.tag("v2", { message: "annotated" });
    await repository.branch("feature/x");
    for (
      const [asked, full] of [
        ["main", "refs/heads/main"],
        ["refs/heads/main", "refs/heads/main"],
        ["feature/x", "refs/heads/feature/x"],
        ["v1", "refs/tags/v1"],
        ["v2", "refs/tags/v2"],
        ["refs/tags/v2", "refs/tags/v2"],
        ["HEAD", "refs/heads/main"],
        [first, first],
      ] as const
    ) {
      const revision = await t.resolve(repository.url, asked);
      assert.deepEqual([revision.reference, revision.id], [full, first], asked);
    }
  });

  it("accepts an absolute path, and gives it the same mirror as the file URL", async () => {
    const one = await t.resolve(repository.path, "main");
    const fetches = t.count("fetch");
    const other = await t.resolve(repository.url, "main");
    assert.equal(one.source.name, other.source.name);
    assert.equal(t.count("fetch"), fetches);
  });

  it("prefers the branch when a tag has the same name, and falls to the tag when it goes", async () => {
    const second = await repository.commit({ "a.txt": "two\n" });
    await repository.branch("same", second);
    await repository.tag("same", { at: first });
    assert.equal((await t.resolve(repository.url, "same")).id, second);
    await repository.deleteRef("refs/heads/same");
    const revision = await t.resolve(repository.url, "same");
    assert.deepEqual([revision.reference, revision.id], ["refs/tags/same", first]);
  });

  it("asks once and fetches nothing when the reference did not move", async () => {
    await t.resolve(repository.url, "main");
    const [asked, fetched] = [t.count("ls-remote"), t.count("fetch")];
    await t.resolve(repository.url, "main");
    assert.equal(t.count("ls-remote"), asked + 1);
    assert.equal(t.count("fetch"), fetched);
  });

  it("does not ask the remote for a commit it has", async () => {
    await t.resolve(repository.url, "main");
    const before = t.count("ls-remote") + t.count("fetch");
    await t.resolve(repository.url, first);
    assert.equal(t.count("ls-remote") + t.count("fetch"), before);
  });

  it("follows new commits, forced pushes and moved tags", async () => {
    await repository.tag("v1");
    const second = await repository.commit({ "a.txt": "two\n" });
    assert.equal((await t.resolve(repository.url, "main")).id, second);
    await t.resolve(repository.url, "v1");
    await repository.reset(first);
    assert.equal((await t.resolve(repository.url, "main")).id, first);
    const third = await repository.commit({ "a.txt": "three\n" });
    await repository.tag("v1");
    assert.equal((await t.resolve(repository.url, "main")).id, third);
    assert.equal((await t.resolve(repository.url, "v1")).id, third);
  });

  it("survives a branch that becomes a directory of branches, and back", async () => {
    await repository.branch("a");
    await t.resolve(repository.url, "a");
    await repository.deleteRef("refs/heads/a");
    await repository.branch("a/b");
    assert.equal((await t.resolve(repository.url, "a/b")).id, first);
    await repository.deleteRef("refs/heads/a/b");
    await repository.branch("a");
    assert.equal((await t.resolve(repository.url, "a")).id, first);
  });

  it("says what is near when a reference is missing, and keeps the mirror", async () => {
    const revision = await t.resolve(repository.url, "main");
    await assert.rejects(t.resolve(repository.url, "mian"), {
      code: "reference_not_found",
      message: /did you mean refs\/heads\/main\?/,
    });
    await assert.rejects(t.resolve(repository.url, "refs/heads/zzzzzzzzz"), {
      code: "reference_not_found",
      message: /it has refs\/heads\/main/,
    });
    const fetches = t.count("fetch");
    assert.ok(await t.source.read(revision, "a.txt", never(), 1 << 24));
    assert.equal(t.count("fetch"), fetches);
  });

  it("refuses abbreviated ids with a reason", async () => {
    await assert.rejects(t.resolve(repository.url, first.slice(0, 10)), {
      code: "reference_not_found",
      message: /abbreviated commit ids are not supported/,
    });
  });

  it("refuses a commit the repository never had", async () => {
    await assert.rejects(t.resolve(repository.url, "0123456789".repeat(4)), {
      code: "reference_not_found",
    });
  });

  it("refuses references that git would take for options, before any command runs", async () => {
    for (const evil of ["--upload-pack=touch /tmp/pwned", "-x", "a..b", "a b", "x^{tree}", ""]) {
      await assert.rejects(t.resolve(repository.url, evil), { code: "bad_request" }, evil);
    }
    assert.equal(t.commands.length, 0);
  });

  it("says that an empty repository is empty", async () => {
    const empty = await createRepository(join(t.directory, "empty"));
    await assert.rejects(t.resolve(empty.url, "main"), {
      code: "reference_not_found",
      message: /is empty/,
    });
  });

  it("refuses a tag that names no commit", async () => {
    const blob = await repository.git("rev-parse", "HEAD:a.txt");
    await repository.tag("blob", { at: blob });
    await assert.rejects(t.resolve(repository.url, "blob"), {
      code: "reference_not_found",
      message: /is no commit/,
    });
  });

  it("tells a place without repository from a missing reference", async () => {
    await assert.rejects(t.resolve(join(t.directory, "nowhere"), "main"), {
      code: "repository_unreachable",
    });
  });

  it("does not support SHA-256 repositories, and says so", async () => {
    const path = join(t.directory, "sha256");
    const git = (...args: string[]) => execFileSync("git", args, { stdio: "ignore" });
    git("init", "--object-format=sha256", "--initial-branch=main", path);
    const as = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git("-C", path, ...as, "commit", "--allow-empty", "-m", "one");
    await assert.rejects(t.resolve(path, "main"), { code: "unsupported", message: /SHA-256/ });
  });

  it("fetches once when many ask at the same time", async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, () => t.resolve(repository.url, "main")),
    );
    assert.deepEqual(new Set(all.map(({ id }) => id)), new Set([first]));
    assert.equal(t.count("fetch"), 1);
  });

  it("gives up at once when the signal is aborted, and works afterwards", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const location = (await t.resolve(repository.url, "main")).source;
    await repository.commit({ "a.txt": "two\n" });
    const asking = t.source.resolve({ location, reference: "main", depth: 0 }, stop.signal);
    stop.abort(reason);
    await assert.rejects(asking, reason);
    assert.notEqual((await t.resolve(repository.url, "main")).id, first);
  });

  it("removes lock files that a killed git left behind", async () => {
    await t.resolve(repository.url, "main");
    const lock = join(t.mirror(repository.url), "refs/stackwright/heads%2Fmain.lock");
    writeFileSync(lock, "");
    execFileSync("touch", ["-d", "2 minutes ago", lock]);
    const second = await repository.commit({ "a.txt": "two\n" });
    assert.equal((await t.resolve(repository.url, "main")).id, second);
  });

  describe("with a depth", () => {
    let ids: string[];
    beforeEach(async () => {
      ids = [first];
      for (let n = 2; n <= 12; n++) ids.push(await repository.commit({ "a.txt": `${n}\n` }));
    });

    const history = async (reference = "main", depth = 0) => {
      const { id } = await t.resolve(repository.url, reference, depth);
      const mirror = t.mirror(repository.url);
      return Number(execFileSync("git", [`--git-dir=${mirror}`, "rev-list", "--count", id]));
    };

    it("fetches that many commits, deepens for more, and completes for 0", async () => {
      assert.equal(await history("main", 2), 2);
      assert.equal(await history("main", 5), 5);
      assert.equal(await history("main", 1), 5);
      assert.equal(await history("main", 0), 12);
    });

    it("fetches once what a shallow source has no more of, and again for a new commit", async () => {
      const path = join(t.directory, "shallow.git");
      const clone = (depth: number) => {
        rmSync(path, { recursive: true, force: true });
        const args = ["clone", "--quiet", "--bare", "--no-single-branch", `--depth=${depth}`];
        execFileSync("git", [...args, repository.url, path]);
      };
      await repository.branch("other", ids.at(-2) ?? "");
      clone(3);
      for (const depth of [0, 7]) {
        for (let poll = 1; poll <= 2; poll++) {
          await t.resolve(path, "main", depth);
          await t.resolve(path, "other", depth);
        }
        const fetches = t.count("fetch");
        assert.equal((await t.resolve(path, "main", depth)).id, ids.at(-1));
        assert.equal((await t.resolve(path, "other", depth)).id, ids.at(-2));
        assert.equal(t.count("fetch"), fetches, `depth ${depth}`);
      }
      await repository.commit({ "a.txt": "13\n" });
      clone(20);
      const fetches = t.count("fetch");
      const { id } = await t.resolve(path, "main");
      await t.resolve(path, "main");
      assert.equal(t.count("fetch"), fetches + 1);
      const mirror = t.mirror(path);
      const count = execFileSync("git", [`--git-dir=${mirror}`, "rev-list", "--count", id]);
      assert.equal(Number(count), 13);
    });

    it("never makes a full mirror shallow", async () => {
      assert.equal(await history("main", 0), 12);
      await repository.commit({ "a.txt": "13\n" });
      assert.equal(await history("main", 1), 13);
    });

    it("does not fetch again while the depth suffices, and measures a history once", async () => {
      await history("main", 3);
      await history("main", 3);
      const [fetches, measured] = [t.count("fetch"), t.count("rev-list")];
      await history("main", 3);
      await history("main", 2);
      assert.equal(t.count("fetch"), fetches);
      assert.equal(t.count("rev-list"), measured);
    });

    it("takes a history that is too long to be measured for as deep as any but all of it", async () => {
      // With a hundred parents of each commit, thirteen hundred make as long a list as fifty thousand.
      const commits = Array.from({ length: 1_300 }, (_, n) => {
        const parents = Array.from({ length: Math.min(n, 100) }, (_, back) => n - back);
        const lines = parents.map((mark, index) => `${index === 0 ? "from" : "merge"} :${mark}\n`);
        const head = `commit refs/heads/long\nmark :${
          n + 1
        }\ncommitter a <a@b> ${n} +0000\ndata 0\n`;
        return head + lines.join("");
      });
      const add = (input: string) =>
        execFileSync("git", [`--git-dir=${repository.path}`, "fast-import", "--quiet"], { input });
      add(commits.join("\n"));
      assert.equal(await history("long", 13), 1_201);
      const fetches = t.count("fetch");
      assert.equal(await history("long", 14), 1_201);
      assert.equal(t.count("fetch"), fetches);
      // What is new is fetched, and not the rest of a history that may be larger than a fetch.
      const head = "commit refs/heads/long\ncommitter a <a@b> 9999 +0000\ndata 0\n";
      add(`${head}from refs/heads/long^0\n`);
      assert.equal(await history("long", 13), 1_202);
      assert.equal(await history("long", 0), 1_301);
    });

    it("follows a shallow branch without losing depth", async () => {
      await history("main", 3);
      await repository.commit({ "a.txt": "13\n" });
      assert.ok(await history("main", 1) >= 3);
    });

    it("finds an old commit, also where the server hands out only tips", async () => {
      await history("main", 1);
      const old = ids[5] ?? "";
      await repository.git(
        "-C",
        repository.path,
        "config",
        "uploadpack.allowAnySHA1InWant",
        "false",
      );
      await repository.git("-C", repository.path, "config", "protocol.version", "0");
      assert.equal((await t.resolve(repository.url, old, 1)).id, old);
    });

    it("tells ancestors, and fetches what history that takes and no more", async () => {
      const resolve = (reference: string) => t.resolve(repository.url, reference, 1);
      const newest = await resolve("main");
      const before = await resolve(ids.at(-2) ?? "");
      assert.equal(await t.source.isAncestor(newest, before, never()), false);
      assert.equal(await t.source.isAncestor(before, newest, never()), true);
      const fetches = t.count("fetch");
      assert.ok(fetches <= 3, `${fetches} fetches`);
      const oldest = await resolve(ids[0] ?? "");
      assert.equal(await t.source.isAncestor(oldest, newest, never()), true);
      assert.equal(await t.source.isAncestor(newest, newest, never()), true);
      assert.equal(await t.source.isAncestor(newest, oldest, never()), false);
      const gone = { ...oldest, id: "0123456789".repeat(4) };
      assert.equal(await t.source.isAncestor(gone, newest, never()), "unknown");
      const asked = t.count("fetch");
      assert.equal(await t.source.isAncestor(gone, newest, never()), "unknown");
      assert.equal(t.count("fetch"), asked, "what is nowhere is looked for once");
    });

    it("tells which of two commits comes first without a program where they are close", async () => {
      const resolve = (reference: string) => t.resolve(repository.url, reference);
      const newest = await resolve("main");
      const before = await resolve(ids.at(-2) ?? "");
      assert.equal(await t.source.isAncestor(newest, before, never()), false);
      assert.equal(await t.source.isAncestor(before, newest, never()), true);
      assert.equal(t.count("merge-base"), 0);
    });

    it("goes by the time of commits where the remote has lost the newer one", async () => {
      const deployed = await t.resolve(repository.url, "main", 1);
      await repository.reset(ids[0] ?? "");
      const later = await amended("2031-01-01T00:00:00Z");
      await repository.branch("amended", later);
      await forgetUnreachable();
      const before = await t.resolve(repository.url, "main", 1);
      assert.equal(await t.source.isAncestor(before, deployed, never()), true);
      const after = await t.resolve(repository.url, "amended", 1);
      assert.equal(await t.source.isAncestor(after, deployed, never()), false);
    });

    /** A commit like the current one, made at another time. */
    async function amended(time: string): Promise<string> {
      const text = await repository.git("cat-file", "commit", "HEAD");
      const seconds = Date.parse(time) / 1000;
      const file = join(t.directory, "commit");
      writeFileSync(file, `${text.replace(/^(committer .*>) \d+/m, `$1 ${seconds}`)}\n`);
      return await repository.git("hash-object", "-t", "commit", "-w", file);
    }

    async function forgetUnreachable(): Promise<void> {
      await repository.git("reflog", "expire", "--expire=all", "--all");
      await repository.git("-C", repository.path, "gc", "--quiet", "--prune=now");
    }
  });

  describe("what was known last, without asking", () => {
    const lastKnown = (reference: string, url = repository.url) =>
      t.source.lastKnown(
        { location: sourceLocation("git", url), reference, depth: 0 },
        never(),
      );

    it("is what branch, tag and commit named when they were resolved, also while the remote is away", async () => {
      assert.equal(await lastKnown("main"), undefined);
      const first = await repository.commit({ "a.txt": "known\n" });
      await repository.tag("v1");
      await t.resolve(repository.url, "main");
      await t.resolve(repository.url, "v1");
      await t.resolve(repository.url, first);
      const before = await repository.git("rev-parse", "HEAD^");
      await repository.commit({ "a.txt": "not seen yet\n" });
      renameSync(repository.path, `${repository.path}-away`);
      for (const reference of ["main", "refs/heads/main", "v1", "refs/tags/v1", first]) {
        const known = await lastKnown(reference);
        assert.equal(known?.id, first, reference);
        assert.equal(known?.source.url, repository.url);
      }
      assert.equal((await lastKnown("main"))?.reference, "refs/heads/main");
      for (const reference of ["other", "HEAD", before, "0123456789".repeat(4)]) {
        assert.equal(await lastKnown(reference), undefined, reference);
      }
    });

    it("is what this very URL said, not another one that has the same name", async () => {
      const beside = await createRepository(join(t.directory, "beside"));
      const another = await beside.commit({ "a.txt": "of somebody else\n" });
      renameSync(beside.path, repository.path.replace(/\.git$/, ""));
      const { origin, close } = await startGitHttpServer({ root: dirname(repository.path) });
      const place = `${origin}/${basename(repository.path, ".git")}`;
      const url = `${place}.git`;
      try {
        const { source } = await t.resolve(url, "main");
        assert.equal((await t.resolve(place, "main")).source.name, source.name);
        assert.equal((await t.resolve(place, another)).source.name, source.name);
        assert.deepEqual(
          [(await lastKnown("main", url))?.id, (await lastKnown("main", place))?.id],
          [first, another],
        );
        assert.equal(await lastKnown(another, url), undefined);
        const programs = () => t.count("fetch") + t.count("update-ref");
        const started = programs();
        assert.equal((await t.resolve(url, "main")).id, first);
        assert.equal((await t.resolve(place, "main")).id, another);
        assert.equal(programs(), started, "each still has its own");
      } finally {
        await close();
      }
    });

    it("is not what an earlier version had, whose mirror goes when the remote answers", async () => {
      const { source } = await t.resolve(repository.url, "main");
      const shared = dirname(t.mirror(repository.url));
      const asked = { location: source, reference: "main", depth: 0 };
      await t.source.close();
      const aside = join(t.directory, "aside");
      renameSync(t.mirror(repository.url), aside);
      rmSync(shared, { recursive: true });
      renameSync(aside, shared);
      mkdirSync(join(shared, "../submodules/http"), { recursive: true });
      // Killed while it removed the old one before.
      rmSync(join(shared, "HEAD"));
      const old = t.again();
      assert.deepEqual(await old.source.mirrors.list(), []);
      assert.equal(await old.source.lastKnown(asked, never()), undefined);
      assert.equal((await old.resolve(repository.url, "main")).id, first);
      assert.equal((await old.source.lastKnown(asked, never()))?.id, first);
      assert.deepEqual((await old.source.mirrors.list()).map(({ path }) => path), [
        t.mirror(repository.url),
      ]);
      assert.deepEqual(readdirSync(shared), [basename(t.mirror(repository.url))]);
      assert.equal(existsSync(join(shared, "../submodules/http")), false);
      await old.source.close();
    });
  });
});
