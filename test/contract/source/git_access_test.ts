import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer as createPlain, request as ask } from "node:http";
import { createServer as createSecure } from "node:https";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { createGitHubTokens } from "../../../src/source/mod.ts";
import { createHttpClient, createRedactor, systemClock } from "../../../src/system/mod.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";
import { type GitHttpServer, serve, startGitHttpServer } from "../../fakes/git_http_server.ts";
import { startGitHubServer } from "../../fakes/github_server.ts";

describe("access to Git repositories", () => {
  let root: string;
  let repository: FakeRepository;
  let head: string;
  let t: TestSource | undefined;
  const closing: (() => Promise<void>)[] = [];

  before(async () => {
    root = fs.mkdtempSync("/tmp/swt-access-");
    repository = await createRepository(join(root, "o"));
    head = await repository.commit({ "a.txt": "one\n" });
    fs.renameSync(join(root, "o/remote.git"), join(root, "o/r.git"));
  });
  after(() => fs.rmSync(root, { recursive: true }));
  afterEach(async () => {
    await t?.close();
    t = undefined;
    for (const close of closing.splice(0).reverse()) await close();
  });
  const git = async (options: Partial<Parameters<typeof startGitHttpServer>[0]> = {}) => {
    const server = await startGitHttpServer({ root, ...options });
    closing.push(server.close);
    return server;
  };

  it("a commit that is here is not for who may not read the repository", async () => {
    const login = "ann:pass-word-1";
    const server = await git({ login });
    t = await createTestSource();
    const owners = server.origin.replace("//", `//${login}@`);
    assert.equal((await t.resolve(`${owners}/o/r.git`, "main")).id, head);
    const others = t.resolve(`${server.origin}/o/r.git`, head);
    await assert.rejects(others, { code: "repository_denied" });
    assert.equal((await t.resolve(`${owners}/o/r.git`, head)).id, head);
  });

  it("a commit that somebody else fetches meanwhile is not for who may not read the repository", async () => {
    const login = "ann:pass-word-1";
    const server = await git({ login });
    t = await createTestSource();
    const owners = server.origin.replace("//", `//${login}@`);
    const asked = t.resolve(`${owners}/o/r.git`, head);
    // It holds the mirror's lock as soon as it asks the server.
    while (server.seen.length === 0) await new Promise((done) => setTimeout(done, 1));
    await assert.rejects(t.resolve(`${server.origin}/o/r.git`, head), {
      code: "repository_denied",
    });
    assert.equal((await asked).id, head);
  });

  it("the id of a tag that is here opens nothing to who may not read the repository", async () => {
    const login = "ann:pass-word-1";
    const server = await git({ login });
    t = await createTestSource();
    const owners = server.origin.replace("//", `//${login}@`);
    const run = (...args: string[]) =>
      execFileSync("git", ["-C", join(root, "o/r.git"), ...args], { encoding: "utf8" }).trim();
    run("-c", "user.name=a", "-c", "user.email=a@b", "tag", "--annotate", "-m", "v1", "v1", head);
    const tag = run("rev-parse", "v1");
    assert.notEqual(tag, head);
    assert.equal((await t.resolve(`${owners}/o/r.git`, "v1")).id, head);
    for (const id of [tag, head]) {
      await assert.rejects(t.resolve(`${server.origin}/o/r.git`, id), {
        code: "repository_denied",
      });
    }
    assert.equal((await t.resolve(`${owners}/o/r.git`, tag)).id, head);
  });

  it("a commit of what was public once is not for who may not read it any more", async () => {
    let isPublic = true;
    const intercept = ({ authorization }: { readonly authorization: string }) =>
      isPublic || authorization !== ""
        ? undefined
        : { status: 401, headers: { "www-authenticate": 'Basic realm="git"' } };
    const server = await git({ intercept });
    let now = Date.now();
    t = await createTestSource({ now: () => new Date(now) });
    const url = `${server.origin}/o/r.git`;
    assert.equal((await t.resolve(url, head)).id, head);
    const before = server.seen.length;
    assert.equal((await t.resolve(url, head)).id, head);
    assert.equal(server.seen.length, before, "an answer holds for a moment");
    [isPublic, now] = [false, now + 61_000];
    await assert.rejects(t.resolve(url, head), { code: "repository_denied" });
    assert.equal((await t.resolve(url.replace("//", "//ann:pass-word-1@"), head)).id, head);
  });

  it("a GitHub App's token opens its repository, and is neither argument nor log", async () => {
    const seen: string[] = [];
    const github = await startGitHubServer({
      appId: "4711",
      installations: { "o/r": 5 },
      expiresAt: () => new Date(Date.now() + 3600_000),
      otherwise(request, response) {
        const header = request.headers.authorization ?? "";
        seen.push(header);
        const wanted = `x-access-token:${github.tokens.at(-1)}`;
        if (header === `Basic ${Buffer.from(wanted).toString("base64")}`) {
          return serve(root, request, response);
        }
        request.resume();
        response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      },
    });
    closing.push(github.close);
    const redactor = createRedactor();
    const tokens = createGitHubTokens({ http: createHttpClient(), clock: systemClock, redactor });
    const app = { appId: "4711", privateKey: github.privateKey, installationId: "" };
    t = await createTestSource({
      credentials: { domains: [{ domains: ["127.0.0.1"], githubApp: app }] },
      options: { githubToken: (each, url, signal) => tokens.token(each, url, signal) },
    });
    const url = `${github.origin}/o/r.git`;
    assert.equal((await t.resolve(url, "main")).id, head);
    assert.equal((await t.resolve(url, "main")).id, head);
    assert.equal(github.tokens.length, 1, "the token is kept");
    assert.ok(seen.some((each) => each !== ""));
    const shown = JSON.stringify(t.commands.map(({ argv }) => argv));
    assert.ok(!shown.includes(github.tokens[0] ?? "?"));
    await assert.rejects(t.resolve(`${github.origin}/o/none.git`, "main"), {
      code: "repository_denied",
      message: /not installed there/,
    });
  });

  it("a global App serves configured hosts alone", async () => {
    const server = await git();
    let asked = 0;
    t = await createTestSource({
      credentials: {
        global: { githubApp: { appId: "1", privateKey: "k", installationId: "" } },
        tokenHosts: ["github.com"],
      },
      options: { githubToken: () => Promise.resolve(`token-${asked++}-4711`) },
    });
    await t.resolve(`${server.origin}/o/r.git`, "main");
    assert.equal(asked, 0);
    assert.ok(server.seen.every(({ authorization }) => authorization === ""));
  });

  describe("proxies", () => {
    /** A proxy for plain http that wants a login, and finds every host at one place. */
    async function startProxy(origin: string): Promise<{ url: string; seen: string[] }> {
      const seen: string[] = [];
      const login = `Basic ${Buffer.from("me:proxy-pass-77").toString("base64")}`;
      const server = createPlain((incoming, response) => {
        seen.push(incoming.url ?? "");
        if (incoming.headers["proxy-authorization"] !== login) {
          response.writeHead(407, { "proxy-authenticate": 'Basic realm="p"' }).end();
          return;
        }
        const { "proxy-authorization": _, ...headers } = incoming.headers;
        const { pathname, search } = new URL(incoming.url ?? "");
        const onward = ask(origin + pathname + search, {
          method: incoming.method ?? "GET",
          headers,
        });
        onward.on("response", (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        });
        onward.on("error", () => response.destroy());
        incoming.pipe(onward);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closing.push(() =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        })
      );
      const { port } = server.address() as AddressInfo;
      return { url: `http://me:proxy-pass-77@127.0.0.1:${port}`, seen };
    }

    it("are used with their login, which is no argument", async () => {
      const proxy = await startProxy((await git()).origin);
      t = await createTestSource({ options: { httpProxy: proxy.url } });
      assert.equal((await t.resolve("http://git.test/o/r.git", "main")).id, head);
      assert.ok(proxy.seen.length > 0);
      assert.ok(proxy.seen.every((each) => each.startsWith("http://git.test/")));
      assert.ok(!JSON.stringify(t.commands.map(({ argv }) => argv)).includes("proxy-pass-77"));
    });

    it("are left out for hosts of NO_PROXY", async () => {
      const proxy = await startProxy((await git()).origin);
      t = await createTestSource({ options: { httpProxy: proxy.url, noProxy: "git.test" } });
      // Which nobody but the proxy knows.
      await assert.rejects(t.resolve("http://git.test/o/r.git", "main"), /git\.test/);
      assert.deepEqual(proxy.seen, []);
    });

    it("never get a token for this machine, where nobody else is asked", async () => {
      const server = await git({ login: "oauth2:token-9911" });
      const proxy = await startProxy(server.origin);
      t = await createTestSource({
        options: { httpProxy: proxy.url },
        credentials: { global: { accessToken: "token-9911" }, tokenHosts: ["127.0.0.1"] },
      });
      assert.equal((await t.resolve(`${server.origin}/o/r.git`, "main")).id, head);
      assert.ok(server.seen.some(({ authorization }) => authorization !== ""));
      assert.deepEqual(proxy.seen, []);
    });

    it("that refuse are told apart from repositories that do, without their password", async () => {
      const proxy = await startProxy((await git()).origin);
      t = await createTestSource({
        options: { httpProxy: proxy.url.replace("proxy-pass-77", "wrong-pass-88") },
      });
      await assert.rejects(t.resolve("http://git.test/o/r.git", "main"), (error: Error) => {
        assert.match(error.message, /407|proxy/i);
        assert.ok(!error.message.includes("wrong-pass-88"));
        return true;
      });
    });
  });

  it("by one URL gives nothing of what came by another one of the same name", async () => {
    const stranger = await createRepository(join(root, "stranger/o"));
    await stranger.commit({ "a.txt": "mine\n" });
    fs.renameSync(join(root, "stranger/o/remote.git"), join(root, "stranger/o/r.git"));
    for (const scheme of ["http://", "ssh://git@"]) {
      const source = t = await createTestSource({
        options: {
          rewrites: {
            "https://git.example": `file://${root}`,
            [`${scheme}git.example`]: `file://${root}/stranger`,
          },
        },
      });
      const [url, other] = ["https://git.example/o/r.git", `${scheme}git.example/o/r.git`];
      const theirs = await source.resolve(url, "main");
      await assert.rejects(source.resolve(other, theirs.id), scheme);
      const mine = await source.resolve(other, "main");
      assert.equal(mine.source.name, theirs.source.name);
      assert.notEqual(mine.id, theirs.id);
      assert.equal((await source.resolve(other, mine.id)).id, mine.id);
      await assert.rejects(source.resolve(url, mine.id), scheme);
      assert.equal(await source.source.isAncestor(theirs, mine, never()), "unknown");
      await source.close();
    }
  });

  describe("rewriting", () => {
    it("replaces the remote, keeps the name, and takes no credentials along", async () => {
      const mirror = await git();
      t = await createTestSource({
        options: { rewrites: { "git.example": `${mirror.origin}` } },
      });
      const revision = await t.resolve("https://me:secret-88@git.example/o/r.git", "main");
      assert.equal(revision.id, head);
      assert.equal(revision.source.name, "git.example/o/r");
      assert.ok(mirror.seen.length > 0);
      assert.ok(mirror.seen.every(({ authorization }) => authorization === ""));
      const text = await t.source.read(revision, "a.txt", never(), 1 << 24);
      assert.equal(new TextDecoder().decode(text), "one\n");
    });

    it("leads to a repository on this machine, which its author could not name", async () => {
      t = await createTestSource({ options: { rewrites: { "git.example": `file://${root}` } } });
      assert.equal((await t.resolve("git@git.example:o/r.git", "main")).id, head);
    });

    it("holds for submodules too, and gives them no token of another host", async () => {
      const [outer, inner]: [GitHttpServer, GitHttpServer] = [await git(), await git()];
      const parent = await createRepository(join(root, "p"));
      const library = head;
      await parent.commit({ "main.txt": "m\n" });
      await parent.submodule("lib", "https://lib.example/o/r.git", library);
      t = await createTestSource({
        credentials: {
          global: { accessToken: "token-for-outer-4711" },
          tokenHosts: [`127.0.0.1:${outer.port}`],
        },
        options: { rewrites: { "lib.example": inner.origin } },
      });
      const revision = await t.resolve(`${outer.origin}/p/remote.git`, "main");
      const tree = await t.source.materialise(revision, never());
      assert.equal(fs.readFileSync(join(tree, "lib/a.txt"), "utf8"), "one\n");
      assert.ok(inner.seen.length > 0);
      assert.ok(inner.seen.every(({ authorization }) => authorization === ""));
    });
  });

  it("SKIP_TLS_VERIFICATION and insecure_skip_tls accept a certificate nobody signed", async () => {
    const [key, certificate] = [join(root, "key.pem"), join(root, "cert.pem")];
    execFileSync("openssl", [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    ], { stdio: "ignore" });
    const server = createSecure(
      { key: fs.readFileSync(key), cert: fs.readFileSync(certificate) },
      (request, response) => serve(root, request, response),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      })
    );
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/o/r.git`;
    for (
      const [credentials, options, works] of [
        [{}, {}, false],
        [{ global: { insecureSkipTls: true } }, {}, true],
        [{ domains: [{ domains: ["127.0.0.1"], insecureSkipTls: true }] }, {}, true],
        [{ domains: [{ domains: ["other.example"], insecureSkipTls: true }] }, {}, false],
        [{}, { caFile: certificate }, true],
      ] as const
    ) {
      const source = await createTestSource({ credentials, options });
      try {
        if (works) assert.equal((await source.resolve(url, "main")).id, head);
        else {
          await assert.rejects(source.resolve(url, "main"), { code: "repository_unreachable" });
        }
      } finally {
        await source.close();
      }
    }
  });
});
