import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { sourceLocation } from "../../../src/source/mod.ts";
import {
  type GitHttpAnswer,
  type GitHttpServer,
  startGitHttpServer,
} from "../../fakes/git_http_server.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import {
  createTestSource,
  never,
  type TestSource,
  type TestSourceOptions,
} from "../../fakes/git_source.ts";

const TOKEN = "s3cret-token-value";
const LOGIN = `oauth2:${TOKEN}`;
const BASIC = `Basic ${Buffer.from(LOGIN).toString("base64")}`;

describe("GitSource over http", () => {
  let root: string;
  let t: TestSource;
  let repository: FakeRepository;
  let server: GitHttpServer;
  let head: string;
  const closing: (() => Promise<void>)[] = [];

  const source = async (settings: Parameters<typeof createTestSource>[0]) => {
    t = await createTestSource(settings);
    closing.push(() => t.close());
    return t;
  };
  const serve = async (options: Partial<Parameters<typeof startGitHttpServer>[0]>) => {
    const started = await startGitHttpServer({ root, ...options });
    closing.push(() => started.close());
    return started;
  };

  beforeEach(async () => {
    root = fs.mkdtempSync("/tmp/swt-http-");
    repository = await createRepository(join(root, "o"));
    head = await repository.commit({ "a.txt": "one\n" });
    server = await serve({ login: LOGIN });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    fs.rmSync(root, { recursive: true });
  });

  const url = (origin = server.origin) => `${origin}/o/remote.git`;
  const granted = { credentials: { global: { accessToken: TOKEN }, tokenHosts: ["127.0.0.1"] } };

  it("hands the token to the configured host, and to nobody who looks", async () => {
    await source(granted);
    const revision = await t.resolve(url(), "main", 1);
    assert.equal(revision.id, head);
    assert.equal(revision.source.name, `127.0.0.1_${server.port}/o/remote`);
    assert.ok(server.seen.some(({ authorization }) => authorization === BASIC));
    const encoded = Buffer.from(LOGIN).toString("base64");
    for (const { argv } of t.commands) {
      assert.ok(!argv.join(" ").includes(TOKEN) && !argv.join(" ").includes(encoded));
    }
    for (const file of everyFile(t.directory)) {
      assert.ok(!fs.readFileSync(file).includes(TOKEN), file);
    }
    assert.equal(t.redactor.redact(`x ${TOKEN} ${encoded}`), "x *** ***");
  });

  it("moves credentials out of the URL before git sees it", async () => {
    await source({});
    const withLogin = url().replace("http://", `http://oauth2:${TOKEN}@`);
    assert.equal((await t.resolve(withLogin, "main")).id, head);
    assert.ok(t.commands.every(({ argv }) => !argv.join(" ").includes(TOKEN)));
    assert.equal(
      t.redactor.redact(TOKEN),
      TOKEN,
      "anybody writes URLs: texts of others stay as they are",
    );
  });

  it("does not send the global token to a host nobody configured", async () => {
    await source({ credentials: { global: { accessToken: TOKEN }, tokenHosts: ["git.example"] } });
    await assert.rejects(t.resolve(url(), "main"), { code: "repository_denied" });
    assert.ok(server.seen.every(({ authorization }) => authorization === ""));
  });

  it("does not take the token along when a server redirects elsewhere", async () => {
    const other = await serve({ login: "someone:else" });
    const redirecting = await serve({
      login: LOGIN,
      intercept: ({ url, authorization }) =>
        authorization === BASIC
          ? { status: 302, headers: { location: `${other.origin}${url}` } }
          : undefined,
    });
    await source({
      credentials: {
        global: { accessToken: TOKEN },
        tokenHosts: [`127.0.0.1:${redirecting.port}`],
      },
    });
    await assert.rejects(t.resolve(url(redirecting.origin), "main"));
    assert.ok(redirecting.seen.some(({ authorization }) => authorization === BASIC));
    assert.ok(other.seen.length > 0, "the redirect was not followed at all");
    assert.deepEqual(other.seen.filter(({ authorization }) => authorization !== ""), []);
  });

  it("follows a redirect within the host, as renamed repositories need", async () => {
    const renamed = await serve({
      intercept: ({ url }) =>
        url.startsWith("/old/")
          ? { status: 301, headers: { location: url.replace("/old/", "/o/") } }
          : undefined,
    });
    await source({});
    assert.equal((await t.resolve(`${renamed.origin}/old/remote.git`, "main")).id, head);
  });

  it("says that a wrong token is refused, without showing it", async () => {
    await source({
      credentials: { global: { accessToken: "wrong-token" }, tokenHosts: ["127.0.0.1"] },
    });
    await assert.rejects(t.resolve(url(), "main"), (error: Error) => {
      assert.equal((error as { code?: string }).code, "repository_denied");
      assert.ok(!error.message.includes("wrong-token"));
      assert.match(error.message, /GIT_AUTH_DOMAINS/);
      return true;
    });
  });

  it("tells a repository that is not there from one it may not see", async () => {
    await source(granted);
    await assert.rejects(t.resolve(`${server.origin}/o/nope.git`, "main"), {
      code: "repository_unreachable",
    });
  });

  it("tries three times when the server fails, and once when it refuses", async () => {
    for (const [status, attempts] of [[503, 3], [403, 1]] as const) {
      const failing = await serve({ intercept: () => ({ status }) });
      const one = await createTestSource();
      const code = status === 503 ? "repository_unreachable" : "repository_denied";
      await assert.rejects(one.resolve(url(failing.origin), "main"), { code });
      assert.equal(one.count("ls-remote"), attempts);
      await one.close();
    }
  });

  it("leaves a host alone that is asked too much: git asks nothing, and timers wait", async () => {
    let answer: GitHttpAnswer | undefined;
    const busy = await serve({ intercept: () => answer });
    const one = await createTestSource();
    const location = sourceLocation("git", url(busy.origin));
    const seconds = () => ((one.source.heldUntil(location)?.getTime() ?? 0) - Date.now()) / 1000;
    assert.equal((await one.resolve(url(busy.origin), "main")).id, head);
    for (const status of [429, 503]) {
      answer = { status, headers: { "retry-after": "3000" } };
      const before = busy.seen.length;
      const asked = one.resolve(url(busy.origin), "main");
      await assert.rejects(asked, { code: "repository_unreachable", message: /asked too much/ });
      assert.deepEqual([busy.seen.length - before, one.count("ls-remote")], [1, 0]);
      assert.ok(seconds() > 2000 && seconds() <= 3000, `${seconds()}`);
      const round = { references: ["main"], note: () => {} };
      const polled = one.source.resolve({ location, reference: "main", depth: 0, round }, never());
      const message = /asked for no more questions/;
      await assert.rejects(polled, { code: "repository_unreachable", message });
      assert.equal(busy.seen.length - before, 1, "a poll does not ask");
      answer = undefined;
      assert.equal((await one.resolve(url(busy.origin), "main")).id, head, "who asks, asks");
      assert.equal(one.source.heldUntil(location), undefined);
    }
    await one.close();
  });

  it("leaves a host alone for the login that asks too much, and for no other one", async () => {
    await (await createRepository(join(root, "p"))).commit({ "a.txt": "private\n" });
    const tooMuch = new Set<string>();
    const busy = await serve({
      intercept: ({ url: path, authorization }) => {
        if (path.startsWith("/p/") && authorization === "") {
          return { status: 401, headers: { "www-authenticate": "Basic" } };
        }
        const headers = { "retry-after": "3000" };
        return tooMuch.has(authorization) ? { status: 429, headers } : undefined;
      },
    });
    const one = await source({});
    const open = url(busy.origin);
    const closed = (login: string) =>
      `${open.replace("://", `://${login}@`).replace("/o/", "/p/")}`;
    const mine = closed(LOGIN);
    const other = closed("bot:other");
    const held = () =>
      [open, mine, other].map((each) =>
        one.source.heldUntil(sourceLocation("git", each)) !== undefined
      );
    const fails = (asked: string) =>
      assert.rejects(one.resolve(asked, "main"), { code: "repository_unreachable" });
    for (const each of [open, mine, other]) await one.resolve(each, "main");
    tooMuch.add("");
    await fails(open);
    assert.deepEqual(held(), [true, false, false]);
    await one.resolve(mine, "main");
    assert.deepEqual(held(), [true, false, false]);
    tooMuch.clear();
    await one.resolve(open, "main");
    tooMuch.add(BASIC);
    await fails(mine);
    assert.deepEqual(held(), [false, true, false]);
    for (const each of [open, other]) await one.resolve(each, "main");
    assert.deepEqual(held(), [false, true, false]);
  });

  it("recovers when a failure passes", async () => {
    let left = 2;
    const flaky = await serve({ intercept: () => left-- > 0 ? { status: 502 } : undefined });
    await source({});
    assert.equal((await t.resolve(url(flaky.origin), "main")).id, head);
  });

  it("ends a server that never answers when the time is over", async () => {
    const silent = await serve({});
    silent.close();
    await source({ options: { remoteTimeoutMs: 60_000, attempts: 1 } });
    await assert.rejects(t.resolve(url(silent.origin), "main"), { code: "repository_unreachable" });
  });

  it("deepens over http", async () => {
    for (let n = 0; n < 5; n++) await repository.commit({ "a.txt": `${n}\n` });
    await source(granted);
    const newest = await t.resolve(url(), "main", 1);
    const oldest = await t.resolve(url(), head, 1);
    await t.resolve(url(), "main", 0);
    assert.equal(await t.source.isAncestor(oldest, newest, never()), true);
  });

  describe("with submodules", () => {
    let inner: FakeRepository;
    let pinned: string;
    beforeEach(async () => {
      inner = await createRepository(join(root, "inner"));
      pinned = await inner.commit({ "lib.txt": "inner\n", "run": { executable: "x" } });
    });

    it("exports nested and relative ones, and shares what did not change", async () => {
      const middle = await createRepository(join(root, "middle"));
      await middle.commit({ "m.txt": "middle\n" });
      const nested = await middle.submodule("deep", "../../inner/remote.git", pinned);
      await repository.submodule("mods/one", "../../middle/remote.git", nested);
      await source(granted);
      const first = await t.source.materialise(await t.resolve(url(), "main"), never());
      assert.equal(fs.readFileSync(join(first, "mods/one/deep/lib.txt"), "utf8"), "inner\n");
      assert.equal(fs.statSync(join(first, "mods/one/deep/run")).mode & 0o777, 0o755);
      await repository.commit({ "a.txt": "again\n" });
      const second = await t.source.materialise(await t.resolve(url(), "main"), never());
      const inode = (tree: string) => fs.statSync(join(tree, "mods/one/deep/lib.txt")).ino;
      assert.equal(inode(first), inode(second));
    });

    it("keeps them empty when they are switched off or have no URL", async () => {
      await repository.submodule("mod", "../../inner/remote.git", pinned);
      const ids = await repository.git(
        "update-index",
        "--add",
        "--cacheinfo",
        `160000,${pinned},lost`,
      );
      assert.equal(ids, "");
      await repository.git("commit", "-q", "-m", "lost");
      await repository.git("push", "-q", "origin", "main");
      await source({ ...granted, options: { submodules: false } });
      const revision = await t.resolve(url(), "main");
      const tree = await t.source.materialise(revision, never());
      assert.deepEqual(fs.readdirSync(join(tree, "mod")), []);
      assert.deepEqual(fs.readdirSync(join(tree, "lost")), []);
      assert.equal((await t.source.list(revision, "mod", never())).get("mod")?.kind, "submodule");
      const on = await createTestSource(granted);
      const full = await on.source.materialise(await on.resolve(url(), "main"), never());
      assert.deepEqual(fs.readdirSync(join(full, "mod")).sort(), ["lib.txt", "run"]);
      assert.deepEqual(fs.readdirSync(join(full, "lost")), []);
      assert.match(on.warnings[0] ?? "", /submodule lost has no URL/);
      await on.close();
    });

    it("gives a commit's files up whose submodules' server never ends, also for other stacks", async () => {
      const asked: (() => void)[] = [];
      const endless = createServer(() => asked.shift()?.());
      await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
      closing.push(() =>
        new Promise((resolve) => {
          endless.close(() => resolve());
          endless.closeAllConnections();
        })
      );
      const { port } = endless.address() as AddressInfo;
      await repository.submodule("mod", `http://127.0.0.1:${port}/o/x.git`, pinned);
      const clock = createFakeClock();
      await source({ ...granted, clock });
      const revision = await t.resolve(url(), "main");
      const late = { code: "source_invalid", message: /^the files of the commit, .* 15 minutes/ };
      const ways = [
        () => t.source.materialise(revision, never()),
        () => t.source.read(revision, "mod/lib.txt", never(), 1000),
      ];
      for (const way of ways) {
        const fetching = new Promise<void>((resolve) => asked.push(resolve));
        const refused = assert.rejects(way(), late);
        await fetching;
        await clock.advance(15 * 60_000);
        await refused;
        const before = t.count("fetch");
        for (const again of ways) await assert.rejects(again(), late);
        assert.equal(t.count("fetch"), before);
        await clock.advance(5 * 60_000);
      }
    });

    it("refuses paths of this machine, and names the submodule", async () => {
      await repository.submodule("evil", inner.url, pinned);
      await source(granted);
      const revision = await t.resolve(url(), "main");
      await assert.rejects(t.source.materialise(revision, never()), {
        code: "bad_request",
        message: /^submodule evil: .*path on this machine/,
      });
      assert.ok(!t.commands.some(({ argv }) => argv.includes(inner.path)));
    });

    it("allows those beside a repository on this machine, by relative URL only", async () => {
      const near = await createRepository(join(root, "o/inner"));
      await repository.submodule(
        "mod",
        "../inner/remote.git",
        await near.commit({ "n": "near\n" }),
      );
      await source({});
      const tree = await t.source.materialise(await t.resolve(repository.url, "main"), never());
      assert.equal(fs.readFileSync(join(tree, "mod/n"), "utf8"), "near\n");
      await repository.submodule("evil", inner.path, pinned);
      const revision = await t.resolve(repository.url, "main");
      await assert.rejects(t.source.materialise(revision, never()), {
        code: "bad_request",
        message: /^submodule evil: .*relative URL/,
      });
    });

    describe("never reads the mirror of another source", () => {
      let secret: { readonly mirror: string; readonly id: string };
      beforeEach(async () => {
        await source({});
        const { id } = await t.resolve(inner.url, "main");
        secret = { mirror: t.mirror(inner.url), id };
        assert.ok(fs.existsSync(join(secret.mirror, "HEAD")));
      });
      /** A bare repository beside the data directory, as an operator might have it. */
      const beside = async () => await createRepository(join(t.directory, "beside"));
      const refused = async (options: TestSourceOptions, url: string) => {
        const reader = await createTestSource({ ...options, dataDir: t.dataDir });
        try {
          const revision = await reader.resolve(url, "main");
          await assert.rejects(
            reader.source.materialise(revision, never()),
            /^\w+: submodule evil: /,
          );
          const read = reader.commands.some(({ argv }) =>
            argv.some((arg) => arg === secret.mirror)
          );
          assert.ok(!read, "git was not even asked");
        } finally {
          await reader.close();
        }
      };

      it("from a repository on this machine whose directory holds the data directory", async () => {
        const parent = await beside();
        const up = join(t.directory, "parent.git");
        await parent.submodule("evil", `../${relative(t.directory, secret.mirror)}`, secret.id);
        fs.renameSync(parent.path, up);
        await refused({}, up);
      });

      it("by a link that leads there", async () => {
        const parent = await beside();
        fs.symlinkSync(secret.mirror, join(dirname(parent.path), "lib.git"));
        await parent.submodule("evil", "../lib.git", secret.id);
        await refused({}, parent.path);
        await parent.submodule("evil", "../lib", secret.id);
        await refused({}, parent.path);
      });

      it("by a repository of files that somebody committed to a checkout", async () => {
        const parent = await beside();
        const made = join(dirname(parent.path), "work/made.git");
        fs.mkdirSync(join(made, "objects/info"), { recursive: true });
        fs.mkdirSync(join(made, "refs/heads"), { recursive: true });
        fs.writeFileSync(join(made, "objects/info/alternates"), join(secret.mirror, "objects"));
        fs.writeFileSync(join(made, "HEAD"), "ref: refs/heads/main\n");
        fs.writeFileSync(join(made, "refs/heads/main"), `${secret.id}\n`);
        await parent.submodule("evil", "../work/made.git", secret.id);
        await refused({}, parent.path);
      });

      it("from a repository whose URL a rewrite leads to this machine", async () => {
        const parent = await beside();
        await parent.submodule("evil", secret.mirror, secret.id);
        const rewrites = { "https://git.example/o/r": parent.path };
        await refused({ options: { rewrites } }, "https://git.example/o/r");
      });

      it("and the data directory is no source of its own", async () => {
        await assert.rejects(t.resolve(secret.mirror, "main"), { code: "forbidden" });
        const link = join(t.directory, "link.git");
        fs.symlinkSync(secret.mirror, link);
        await assert.rejects(t.resolve(link, "main"), { code: "forbidden" });
      });
    });

    it("does not give the token to the host of a submodule", async () => {
      const other = await serve({ login: LOGIN });
      await repository.submodule("far", `http://localhost:${other.port}/inner/remote.git`, pinned);
      await source(granted);
      const revision = await t.resolve(url(), "main");
      await assert.rejects(t.source.materialise(revision, never()), {
        code: "repository_denied",
        message: /^submodule far: /,
      });
      assert.ok(other.seen.length > 0);
      assert.ok(other.seen.every(({ authorization }) => authorization === ""));
    });

    it("names a submodule whose commit does not exist", async () => {
      await repository.submodule("gone", "../../inner/remote.git", "0123456789".repeat(4));
      await source(granted);
      const revision = await t.resolve(url(), "main");
      await assert.rejects(t.source.materialise(revision, never()), {
        code: "reference_not_found",
        message: /^submodule gone: /,
      });
    });

    it("refuses links that leave the tree through a submodule", async () => {
      const evil = await inner.commit({ "up": { link: "../../x" } });
      await repository.submodule("mod", "../../inner/remote.git", evil);
      await source(granted);
      const revision = await t.resolve(url(), "main");
      await assert.rejects(t.source.materialise(revision, never()), {
        code: "path_escapes",
        message: /"mod\/up" points to "\.\.\/\.\.\/x"/,
      });
    });
  });
});

function everyFile(directory: string): string[] {
  return fs.readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
