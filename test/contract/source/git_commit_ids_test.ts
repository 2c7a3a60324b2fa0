import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { sourceLocation } from "../../../src/source/mod.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";
import { serveFiles } from "../../fakes/plain_server.ts";
import { type GitHttpServer, startGitHttpServer } from "../../fakes/git_http_server.ts";

const ANN = "ann:pass-word-1";
const BOB = "bob:pass-word-2";
const HIDDEN = ["refs/heads/private", "refs/tags/secret"];

/** How hosts answer who names a commit by its id; whether they give what is hidden by name. */
const HOSTS = {
  "gives no commit by its id": { isOld: true, isOpen: false, settings: [] },
  "gives what any of its branches has": {
    isOld: true,
    isOpen: true,
    settings: ["uploadpack.allowReachableSHA1InWant"],
  },
  "gives every commit by its id": { isOld: false, isOpen: true, settings: [] },
} as const;

describe("commits that are named by their ids", () => {
  let root: string;
  let repository: FakeRepository;
  let server: GitHttpServer;
  let t: TestSource;
  let now: number;
  /** Commits of main, the newest last. */
  let main: string[];
  let hidden: string;
  const closing: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    root = fs.mkdtempSync("/tmp/swt-ids-");
    repository = await createRepository(root);
    main = [];
    for (const text of ["one", "two", "three", "four"]) {
      main.push(await repository.commit({ "a.txt": `${text}\n` }));
    }
    await repository.git("checkout", "--quiet", "-b", "private");
    hidden = await repository.commit({ "s.txt": "for Ann\n" });
    await repository.git("checkout", "--quiet", "main");
    now = Date.now();
    t = await createTestSource({ now: () => new Date(now) });
  });
  afterEach(async () => {
    await t.close();
    for (const close of closing.splice(0)) await close();
    fs.rmSync(root, { recursive: true });
  });

  const git = (...args: string[]) =>
    execFileSync("git", ["-C", repository.path, ...args], { encoding: "utf8" }).trim();
  const start = async (host: keyof typeof HOSTS) => {
    const { isOld, settings } = HOSTS[host];
    for (const each of settings) git("config", each, "true");
    const logins = { [ANN]: [], [BOB]: HIDDEN };
    server = await startGitHttpServer({ root, logins, isOld });
    closing.push(server.close);
  };
  const urlOf = (login: string) => `${server.origin.replace("//", `//${login}@`)}/remote.git`;
  const idFor = async (login: string, reference: string, depth = 0) =>
    (await t.resolve(urlOf(login), reference, depth)).id;
  const isRefused = (login: string, id: string, depth = 0) =>
    assert.rejects(t.resolve(urlOf(login), id, depth), {
      code: "reference_not_found",
      message: /is not in any branch or tag of/,
    });
  const tagged = (name: string, at: string) => {
    git("-c", "user.name=a", "-c", "user.email=a@b", "tag", "--annotate", "-m", name, name, at);
    return git("rev-parse", `refs/tags/${name}`);
  };

  for (const host of Object.keys(HOSTS) as (keyof typeof HOSTS)[]) {
    const { isOpen, isOld } = HOSTS[host];
    describe(`of a host that ${host}`, () => {
      for (const depth of [0, 1]) {
        it(`are for who sees them there, at depth ${depth}`, async () => {
          await start(host);
          assert.equal(await idFor(ANN, "private", depth), hidden);
          assert.equal(await idFor(ANN, hidden, depth), hidden);
          if (isOpen) assert.equal(await idFor(BOB, hidden, depth), hidden);
          else await isRefused(BOB, hidden, depth);
          for (const id of main) assert.equal(await idFor(BOB, id, depth), id);
          assert.equal(await idFor(ANN, hidden, depth), hidden);
        });
      }

      it("are for nobody any more when they are gone there", async () => {
        await start(host);
        assert.equal(await idFor(ANN, "private"), hidden);
        git("branch", "--delete", "--force", "private");
        git("reflog", "expire", "--expire=now", "--all");
        git("gc", "--quiet", "--prune=now");
        now += 61_000;
        for (const login of [ANN, BOB]) await isRefused(login, hidden);
        assert.equal(await idFor(BOB, main[0] ?? ""), main[0]);
      });

      it("are those that tags lead to, too, for who sees the tags", async () => {
        await start(host);
        const [open, secret] = [tagged("open", main[1] ?? ""), tagged("secret", hidden)];
        git("branch", "--delete", "--force", "private");
        assert.equal(await idFor(ANN, "secret"), hidden);
        assert.equal(await idFor(ANN, "open"), main[1]);
        assert.equal(await idFor(ANN, secret), hidden);
        assert.equal(await idFor(BOB, open), main[1]);
        assert.equal(await idFor(BOB, main[1] ?? ""), main[1]);
        for (const id of [secret, hidden]) {
          if (isOpen) assert.equal(await idFor(BOB, id), hidden);
          else await isRefused(BOB, id);
        }
      });

      it("are found where branches have moved on since", async () => {
        await start(host);
        assert.equal(await idFor(ANN, "private"), hidden);
        const next = await repository.commit({ "a.txt": "five\n" });
        const newest = await repository.commit({ "a.txt": "six\n" });
        assert.equal(await idFor(ANN, "main"), newest);
        assert.equal(await idFor(BOB, next), next);
        if (!isOpen) await isRefused(BOB, hidden);
      });

      it("cost no request for a minute, and are asked for again then", async () => {
        await start(host);
        const id = main[2] ?? "";
        assert.equal(await idFor(BOB, id), id);
        let before = server.seen.length;
        now += 59_000;
        assert.equal(await idFor(BOB, id), id);
        assert.equal(server.seen.length, before);
        now += 2000;
        assert.equal(await idFor(BOB, id), id);
        assert.ok(server.seen.length > before);
        if (!isOld) assert.equal(server.seen.length, before + 1);
        before = server.seen.length;
        assert.equal(await idFor(BOB, id), id);
        assert.equal(server.seen.length, before);
        assert.deepEqual(fs.readdirSync(join(t.mirror(urlOf(BOB)), "..")).length, 1);
      });
    });
  }

  it("of a host of plain files are those that its branches and tags lead to", async () => {
    git("update-server-info");
    const { url, close } = await serveFiles(repository.path);
    closing.push(close);
    for (const reference of ["private", ...main, hidden]) await t.resolve(url, reference);
    git("branch", "--delete", "--force", "private");
    git("update-server-info");
    now += 61_000;
    await assert.rejects(t.resolve(url, hidden), { code: "reference_not_found" });
    assert.equal((await t.resolve(url, main[0] ?? "")).id, main[0]);
  });

  it("are asked for once by a round of polls", async () => {
    await start("gives every commit by its id");
    const id = main[0] ?? "";
    await idFor(ANN, id);
    const before = server.seen.length;
    now += 61_000;
    const round = { references: [], note: () => {} };
    const location = sourceLocation("git", urlOf(ANN));
    const wanted = { location, reference: id, depth: 0, round };
    const all = await Promise.all([1, 2, 3].map(() => t.source.resolve(wanted, never())));
    assert.ok(all.every((each) => each.id === id));
    assert.equal(server.seen.length, before + 1);
  });

  it("are not those that submodules of another login brought", async () => {
    await start("gives no commit by its id");
    const outer = await createRepository(join(root, "outer"));
    await outer.commit({ "a.txt": "outer\n" });
    await outer.submodule("lib", urlOf(ANN), hidden);
    await outer.branch("anns", "HEAD");
    await outer.git("reset", "--quiet", "--hard", "HEAD~1");
    await outer.submodule("lib", urlOf(BOB), hidden);
    await outer.branch("bobs", "HEAD");
    const url = `file://${outer.path}`;
    const anns = await t.resolve(url, "anns");
    const tree = await t.source.materialise(anns, never());
    assert.equal(fs.readFileSync(join(tree, "lib/s.txt"), "utf8"), "for Ann\n");
    const bobs = await t.resolve(url, "bobs");
    await assert.rejects(t.source.materialise(bobs, never()), { code: "reference_not_found" });
    await assert.rejects(t.source.read(bobs, "lib/s.txt", never(), 1 << 20), {
      code: "reference_not_found",
    });
    // A rollback works without the network.
    const before = server.seen.length;
    fs.rmSync(tree, { recursive: true });
    await t.source.materialise(anns, never());
    assert.equal(server.seen.length, before);
  });
});
