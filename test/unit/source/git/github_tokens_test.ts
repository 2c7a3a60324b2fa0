import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createGitHubTokens } from "../../../../src/source/git/github_tokens.ts";
import { apiBase } from "../../../../src/source/git/github_api.ts";
import { parseRepositoryUrl } from "../../../../src/source/git/repository_url.ts";
import { createHttpClient, createRedactor } from "../../../../src/system/mod.ts";
import { type GitHubServer, startGitHubServer } from "../../../fakes/github_server.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const never = () => new AbortController().signal;

describe("apiBase()", () => {
  for (
    const [url, base] of [
      ["https://github.com/o/r", "https://api.github.com"],
      ["https://acme.ghe.com/o/r", "https://api.acme.ghe.com"],
      ["https://git.corp.example/o/r", "https://git.corp.example/api/v3"],
      ["https://git.corp.example:8443/o/r", "https://git.corp.example:8443/api/v3"],
      ["https://evil-github.com/o/r", "https://evil-github.com/api/v3"],
      ["http://127.0.0.1:99/o/r", "http://127.0.0.1:99/api/v3"],
    ] as const
  ) {
    it(`apiBase() of ${url} is ${base}`, () =>
      assert.equal(apiBase(parseRepositoryUrl(url)), base));
  }
});

describe("createGitHubTokens()", () => {
  let server: GitHubServer;
  let now: number;
  let expiresAt: number;

  beforeEach(async () => {
    now = NOW;
    expiresAt = NOW + 60 * 60 * 1000;
    server = await startGitHubServer({
      appId: "4711",
      installations: { "o/r": 11, "o/other": 11, "p/r": 12 },
      expiresAt: () => new Date(expiresAt),
    });
  });
  afterEach(() => server.close());

  const make = () => {
    const redactor = createRedactor();
    const tokens = createGitHubTokens({
      http: createHttpClient(),
      clock: { now: () => new Date(now), uptime: () => 0, sleep: () => Promise.resolve() },
      redactor,
    });
    const app = (more = {}) => ({
      appId: "4711",
      privateKey: server.privateKey,
      installationId: "",
      ...more,
    });
    const url = (path: string) => parseRepositoryUrl(`${server.origin}/${path}`);
    return {
      redactor,
      tokens,
      ask: (path = "o/r", more = {}, signal = never()) =>
        tokens.token(app(more), url(path), signal),
    };
  };

  it("token() proves the App by RS256, finds its installation and asks for one repository", async () => {
    const { ask, redactor } = make();
    const token = await ask();
    assert.equal(token, server.tokens[0]);
    assert.deepEqual(server.calls.map(({ method, path, body }) => [method, path, body]), [
      ["GET", "/repos/o/r/installation", undefined],
      ["POST", "/app/installations/11/access_tokens", {
        repositories: ["r"],
        permissions: { contents: "read" },
      }],
    ]);
    for (const { claims } of server.calls) {
      assert.deepEqual(claims, { iat: NOW / 1000 - 30, exp: NOW / 1000 + 540, iss: "4711" });
    }
    assert.equal(redactor.redact(`x ${token} y`), "x *** y");
  });

  it("token() and its claims are known as something that is forgotten when newer ones came", async () => {
    const { ask, redactor } = make();
    const owners: (string | undefined)[] = [];
    redactor.add = (_value, owner) => void owners.push(owner);
    await ask();
    assert.equal(owners.length, 2);
    assert.ok(owners.every((each) => each !== undefined && each !== ""));
  });

  it("token() does not look up an installation that is given", async () => {
    const { ask } = make();
    await ask("o/r", { installationId: "12" });
    assert.deepEqual(server.calls.map(({ path }) => path), ["/app/installations/12/access_tokens"]);
  });

  it("token() keeps a token until five minutes before its end, for its repository", async () => {
    const { ask } = make();
    const first = await ask();
    now = expiresAt - 5 * 60 * 1000 - 1;
    assert.equal(await ask(), first);
    assert.equal(server.tokens.length, 1);
    now += 1;
    expiresAt += 60 * 60 * 1000;
    const second = await ask();
    assert.notEqual(second, first);
    assert.equal(await ask(), second);
    const other = await ask("o/other");
    assert.ok(![first, second].includes(other));
  });

  it("token() keeps the newest ones, whatever repositories are named", async () => {
    const clock = { now: () => new Date(now), uptime: () => 0, sleep: () => Promise.resolve() };
    const parts = { http: createHttpClient(), clock, redactor: createRedactor() };
    const tokens = createGitHubTokens(parts, 2);
    const app = { appId: "4711", privateKey: server.privateKey, installationId: "11" };
    const ask = (path: string) =>
      tokens.token(app, parseRepositoryUrl(`${server.origin}/${path}`), never());
    const first = await ask("o/a");
    const second = await ask("o/b");
    const third = await ask("o/c");
    assert.equal(await ask("o/b"), second);
    assert.equal(await ask("o/c"), third);
    assert.notEqual(await ask("o/a"), first);
  });

  it("token() makes one request for many who ask at once, one of whom may go away", async () => {
    const { ask } = make();
    const leaving = new AbortController();
    const gone = ask("o/r", {}, leaving.signal);
    const staying = Array.from({ length: 8 }, () => ask());
    leaving.abort(new Error("went away"));
    await assert.rejects(gone, /went away/);
    assert.equal(new Set(await Promise.all(staying)).size, 1);
    assert.equal(server.tokens.length, 1);
  });

  it("token() keeps a refusal for ten minutes, and no other failure; it never repeats key or proof", async () => {
    const { ask } = make();
    let last = -1;
    for (
      const [answer, code, says] of [
        [
          { status: 500, body: { message: "oops" } },
          "repository_unreachable",
          /answered 500 \(oops\)/,
        ],
        [
          { status: 403, body: { message: "API rate limit exceeded for installation" } },
          "repository_unreachable",
          /answered 403 \(API rate limit/,
        ],
        [{ status: 429 }, "repository_unreachable", /answered 429/],
        [{ status: 401 }, "repository_denied", /does not know the App/],
        [{ status: 403 }, "repository_denied", /may not read/],
        [{ status: 422 }, "repository_denied", /may not read/],
        [{ status: 302 }, "repository_unreachable", /answered 302/],
        [{ status: 200, body: {} }, "repository_unreachable", /named no installation/],
      ] as const
    ) {
      server.answerWith(answer);
      await assert.rejects(ask(), (error: Error & { code: string }) => {
        assert.equal(error.code, code);
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /PRIVATE|eyJ/);
        return true;
      });
      const calls = server.calls.length;
      assert.ok(calls > last, "it was asked");
      await assert.rejects(ask(), { code, message: says });
      assert.equal(server.calls.length, code === "repository_denied" ? calls : calls + 1);
      now += 10 * 60 * 1000;
      last = server.calls.length;
    }
    server.answerWith(undefined);
    assert.equal(await ask(), server.tokens[0]);
  });

  it("token() asks for no more repositories of who was refused hundreds, but for those of others", async () => {
    const { tokens, ask } = make();
    const app = { appId: "4711", privateKey: server.privateKey, installationId: "" };
    const of = (path: string, by: string) =>
      tokens.token(app, { ...parseRepositoryUrl(`${server.origin}/${path}`), by }, never());
    const own = await of("o/r", "greedy");
    for (let at = 0; at < 300; at++) {
      await assert.rejects(of(`x/r${at}`, "greedy"), { message: /not installed there/ });
    }
    const calls = server.calls.length;
    const refused = {
      code: "repository_denied",
      message: /refused 300 others of greedy .* until 2026-03-01T13:00:00Z/,
    };
    await assert.rejects(of("p/r", "greedy"), refused);
    await assert.rejects(of("x/r0", "greedy"), { message: /not installed there/ });
    assert.equal(server.calls.length, calls);
    // It may have been granted since, for which one author's question does not keep another one waiting.
    await assert.rejects(of("x/r0", "another"), { message: /not installed there/ });
    assert.equal(server.calls.length, calls + 1);
    assert.ok(await of("o/other", "another"));
    assert.ok(await ask("p/r"));
    // What it was granted before is asked for again.
    now = expiresAt - 60_000;
    expiresAt += 60 * 60 * 1000;
    assert.notEqual(await of("o/r", "greedy"), own);
    await assert.rejects(of("o/another", "greedy"), refused);
    now += 60_001;
    await assert.rejects(of("o/another", "greedy"), { message: /not installed there/ });
  });

  it("token() says what is wrong with App, key or repository", async () => {
    const { ask } = make();
    const ec = generateKeyPairSync("ec", {
      namedCurve: "P-256",
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    }).privateKey;
    await assert.rejects(ask("x/y"), { code: "repository_denied", message: /not installed there/ });
    await assert.rejects(ask("o"), { code: "repository_denied", message: /owner\/name/ });
    await assert.rejects(ask("o/r/s"), { code: "repository_denied", message: /owner\/name/ });
    await assert.rejects(ask("o/r", { appId: "1" }), { message: /does not know the App/ });
    for (const privateKey of ["nonsense", ec]) {
      await assert.rejects(ask("o/r", { privateKey }), {
        code: "repository_denied",
        message: /private key of GitHub App 4711 is no RSA key/,
      });
    }
  });

  it("token() takes a key whose line breaks were written out", async () => {
    const { ask } = make();
    await ask("o/r", { privateKey: server.privateKey.replaceAll("\n", "\\n") });
    assert.equal(server.tokens.length, 1);
  });

  it("token() tells that GitHub cannot be reached", async () => {
    const { ask } = make();
    await server.close();
    await assert.rejects(ask(), { code: "repository_unreachable", message: /127\.0\.0\.1/ });
    server = await startGitHubServer({
      appId: "1",
      installations: {},
      expiresAt: () => new Date(),
    });
  });
});
