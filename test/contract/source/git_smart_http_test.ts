import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { createServer as createPlain, request as ask } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import type { GitSourceOptions } from "../../../src/source/mod.ts";
import {
  type GitHttpOptions,
  type SeenRequest,
  serve,
  startGitHttpServer,
} from "../../fakes/git_http_server.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import {
  createTestSource,
  type TestSource,
  type TestSourceOptions,
} from "../../fakes/git_source.ts";

const TOKEN = "s3cret-token-value";
const LOGIN = `oauth2:${TOKEN}`;
const BASIC = `Basic ${Buffer.from(LOGIN).toString("base64")}`;
const GRANTED = { global: { accessToken: TOKEN }, tokenHosts: ["127.0.0.1"] };
const REFERENCES = ["main", "refs/heads/main", "HEAD", "v1", "light", "topic/a", "none", "mai"];

let root: string;
let repository: FakeRepository;
before(async () => {
  root = fs.mkdtempSync("/tmp/swt-smart-");
  repository = await createRepository(join(root, "o"));
  await repository.commit({ "a.txt": "one\n" });
  await repository.tag("v1", { message: "first" });
  await repository.tag("light");
  await repository.branch("topic/a");
  await repository.branch("main-line");
  await repository.commit({ "a.txt": "two\n" });
});
after(() => fs.rmSync(root, { recursive: true }));

interface Server {
  readonly origin: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** What a source found for each reference, or how it failed, and how many questions git asked. */
async function resolved(t: TestSource, url: string, references = REFERENCES) {
  const found: string[] = [];
  for (const reference of references) {
    try {
      const { id, reference: name } = await t.resolve(url, reference, 1);
      found.push(`${reference}: ${name} ${id}`);
    } catch (error) {
      assert.ok(isStackwrightError(error), String(error));
      assert.ok(!error.message.includes(TOKEN));
      found.push(`${reference}: ${error.code}`);
    }
  }
  return found;
}

/** What is found with and without git, which must be the same. */
async function bothWays(
  server: (t: number) => Promise<Server>,
  { settings = {}, references = REFERENCES, path = "/o/remote.git" }: {
    readonly settings?: TestSourceOptions;
    readonly references?: string[];
    readonly path?: string;
  } = {},
) {
  const results = [];
  for (const [index, options] of [{ http: undefined }, {}].entries()) {
    const started = await server(index);
    const t = await createTestSource({
      ...settings,
      options: { ...settings.options, ...options } as Partial<GitSourceOptions>,
    });
    try {
      const found = await resolved(t, started.origin + path, references);
      results.push({ found, asked: t.count("ls-remote"), seen: [...started.seen], t });
    } finally {
      await t.close();
      await started.close();
    }
  }
  const [git, http] = results;
  assert.ok(git !== undefined && http !== undefined);
  assert.deepEqual(http.found, git.found);
  return { git, http };
}

const started = (options: Partial<GitHttpOptions> = {}) => () =>
  startGitHttpServer({ root, ...options });

/** Answers as a server does that knows nothing of protocol 2. */
function startOldServer(): Promise<Server> {
  const seen: SeenRequest[] = [];
  const server = createPlain((request, response) => {
    seen.push({ method: request.method ?? "", url: request.url ?? "", authorization: "" });
    delete request.headers["git-protocol"];
    serve(root, request, response);
  });
  return listening(server, "http", seen);
}

async function listening(
  server: ReturnType<typeof createPlain>,
  scheme: string,
  seen: SeenRequest[],
): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${scheme}://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

describe("references over HTTP, with git and without", () => {
  it("are the same of a public repository, and only what is missing needs a program", async () => {
    const { git, http } = await bothWays(started());
    assert.ok(git.found.filter((each) => / [0-9a-f]{40}$/.test(each)).length === 6);
    assert.equal(git.asked, REFERENCES.length + 2, "two more for what is near");
    assert.equal(http.asked, 2, "what is near");
  });

  it("are the same of a repository that wants a login, which nobody sees who does not ask", async () => {
    const { http } = await bothWays(started({ login: LOGIN }), {
      settings: { credentials: GRANTED },
    });
    assert.equal(http.asked, 2);
    assert.equal(http.seen[0]?.authorization, "");
    assert.ok(http.seen.some(({ authorization }) => authorization === BASIC));
    const open = await bothWays(started(), { settings: { credentials: GRANTED } });
    assert.ok(open.http.seen.every(({ authorization }) => authorization === ""));
  });

  it("are refused in the same way without a login, with a wrong one, and for another host", async () => {
    for (
      const credentials of [
        {},
        { ...GRANTED, global: { accessToken: "wrong-token" } },
        { ...GRANTED, tokenHosts: ["git.example"] },
      ]
    ) {
      const { git } = await bothWays(started({ login: LOGIN }), {
        settings: { credentials },
        references: ["main"],
      });
      assert.deepEqual(git.found, ["main: repository_denied"]);
    }
  });

  it("are the same where they are missing: no repository, an empty one, errors, other answers", async () => {
    execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", join(root, "empty.git")]);
    await bothWays(started(), { references: ["main"], path: "/o/nope.git" });
    await bothWays(started(), { references: ["main", "HEAD"], path: "/empty.git" });
    for (const status of [403, 404, 500, 503]) {
      await bothWays(started({ intercept: () => ({ status }) }), { references: ["main"] });
    }
    const page = { status: 200, headers: { "content-type": "text/html" } };
    await bothWays(started({ intercept: () => page }), { references: ["main"] });
  });

  it("are the same of HEAD that names no branch, and of SHA-256", async () => {
    const detached = join(root, "detached.git");
    execFileSync("git", ["clone", "-q", "--bare", join(root, "o/remote.git"), detached]);
    const id = execFileSync("git", ["-C", detached, "rev-parse", "main"]).toString().trim();
    execFileSync("git", ["-C", detached, "update-ref", "--no-deref", "HEAD", id]);
    const { http } = await bothWays(started(), { references: ["HEAD"], path: "/detached.git" });
    assert.equal(http.asked, 0);
    const long = join(root, "long.git");
    execFileSync("git", ["init", "-q", "--object-format=sha256", "--initial-branch=main", long]);
    const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    execFileSync("git", ["-C", long, ...who, "commit", "-q", "--allow-empty", "-m", "one"]);
    const { git } = await bothWays(started(), { references: ["main"], path: "/long.git/.git" });
    assert.deepEqual(git.found, ["main: unsupported"]);
  });

  it("are the same of a server that is older than protocol 2", async () => {
    const { http } = await bothWays(startOldServer);
    assert.equal(http.asked, 2);
    const questions = http.seen.filter(({ url }) => url.includes("info/refs"));
    assert.ok(questions.length > 0);
  });

  it("are the same behind redirects, and a token goes to no other server", async () => {
    const renamed = started({
      intercept: ({ url }) =>
        url.startsWith("/old/")
          ? { status: 301, headers: { location: url.replace("/old/", "/o/") } }
          : undefined,
    });
    await bothWays(renamed, { references: ["main", "HEAD"], path: "/old/remote.git" });
    const other = await startGitHttpServer({ root });
    try {
      const away = started({
        intercept: ({ url, authorization }) =>
          authorization === BASIC
            ? { status: 302, headers: { location: `${other.origin}${url}` } }
            : { status: 401, headers: { "www-authenticate": 'Basic realm="git"' } },
      });
      await bothWays(away, { references: ["main"], settings: { credentials: GRANTED } });
      assert.ok(other.seen.every(({ authorization }) => authorization === ""));
    } finally {
      await other.close();
    }
  });

  it("are the same through a proxy that wants a login", async () => {
    const seen: SeenRequest[] = [];
    const login = `Basic ${Buffer.from("me:proxy-pass-77").toString("base64")}`;
    const backend = await startGitHttpServer({ root });
    const proxy = await listening(
      createPlain((incoming, response) => {
        seen.push({ method: incoming.method ?? "", url: incoming.url ?? "", authorization: "" });
        if (incoming.headers["proxy-authorization"] !== login) {
          response.writeHead(407, { "proxy-authenticate": 'Basic realm="p"' }).end();
          return;
        }
        const path = new URL(incoming.url ?? "").pathname + new URL(incoming.url ?? "").search;
        const { "proxy-authorization": _, ...headers } = incoming.headers;
        const onward = ask(backend.origin + path, { method: incoming.method ?? "GET", headers });
        onward.on("response", (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        });
        incoming.pipe(onward);
      }),
      "http",
      seen,
    );
    try {
      const httpProxy = proxy.origin.replace("//", "//me:proxy-pass-77@");
      const { http } = await bothWays(
        () => Promise.resolve({ origin: "http://git.test", seen, close: () => Promise.resolve() }),
        { settings: { options: { httpProxy } } },
      );
      assert.equal(http.asked, 2);
      assert.ok(http.seen.every(({ url }) => url.startsWith("http://git.test/")));
    } finally {
      await proxy.close();
      await backend.close();
    }
  });

  it("need a certificate that the operator trusts", async () => {
    const [key, certificate] = [join(root, "key.pem"), join(root, "cert.pem")];
    execFileSync("openssl", [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
      ...["-subj", "/CN=localhost", "-addext", "basicConstraints=critical,CA:FALSE"],
      ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    ], { stdio: "ignore" });
    const pair = { key: fs.readFileSync(key), cert: fs.readFileSync(certificate) };
    const secure = () => {
      const seen: SeenRequest[] = [];
      const server = createSecure(pair, (request, response) => {
        seen.push({ method: request.method ?? "", url: request.url ?? "", authorization: "" });
        serve(root, request, response);
      });
      return listening(server, "https", seen);
    };
    const trusted = await bothWays(secure, { settings: { options: { caFile: certificate } } });
    assert.equal(trusted.http.asked, 2);
    const { git } = await bothWays(secure, { references: ["main"] });
    assert.deepEqual(git.found, ["main: repository_unreachable"]);
    const blind = { credentials: { global: { insecureSkipTls: true } } };
    await bothWays(secure, { references: ["main"], settings: blind });
  });
});

describe("references over HTTP without git", () => {
  it("cost one request on one connection when they are asked for again", async () => {
    const connections = new Set<Socket>();
    const seen: SeenRequest[] = [];
    const server = createPlain((request, response) => {
      connections.add(request.socket);
      seen.push({ method: request.method ?? "", url: request.url ?? "", authorization: "" });
      serve(root, request, response);
    });
    const { origin, close } = await listening(server, "http", seen);
    const t = await createTestSource();
    try {
      const url = `${origin}/o/remote.git`;
      await t.resolve(url, "main");
      seen.length = 0;
      connections.clear();
      for (let turn = 0; turn < 5; turn++) await t.resolve(url, "main");
      assert.deepEqual(seen.map(({ method }) => method), Array(5).fill("POST"));
      assert.equal(connections.size, 1);
      assert.equal(t.count("ls-remote"), 0);
    } finally {
      await t.close();
      await close();
    }
  });

  it("are asked once for all who want to know the same at the same time", async () => {
    for (const options of [{}, { http: undefined }]) {
      const server = await startGitHttpServer({ root });
      const t = await createTestSource({ options });
      try {
        const url = `${server.origin}/o/remote.git`;
        await t.resolve(url, "main");
        server.seen.length = 0;
        const found = await Promise.all([1, 2, 3, 4].map(() => t.resolve(url, "main")));
        assert.equal(new Set(found.map(({ id }) => id)).size, 1);
        const asks = "http" in options ? "GET" : "POST";
        assert.equal(server.seen.filter(({ method }) => method === asks).length, 1);
      } finally {
        await t.close();
        await server.close();
      }
    }
  });

  it("are left to git for a while by a server whose answers are not as usual", async () => {
    const server = await startGitHttpServer({
      root,
      intercept: ({ url }) =>
        url.startsWith("/old/")
          ? { status: 301, headers: { location: url.replace("/old/", "/o/") } }
          : undefined,
    });
    const t = await createTestSource();
    try {
      const url = `${server.origin}/old/remote.git`;
      for (let turn = 0; turn < 3; turn++) await t.resolve(url, "main");
      assert.equal(t.count("ls-remote"), 3);
      const redirected = server.seen.filter(({ url }) => url.startsWith("/old/"));
      // Of git three questions and a fetch; without it one try, whose redirect was followed.
      assert.ok(redirected.length <= 6, `${redirected.length} requests`);
    } finally {
      await t.close();
      await server.close();
    }
  });

  it("see what was pushed, and a login that is taken away", async () => {
    let login: string | undefined;
    const own = await createRepository(join(root, "own"));
    await own.commit({ "a.txt": "one\n" });
    const server = await startGitHttpServer({
      root,
      intercept: ({ authorization }) =>
        login !== undefined && authorization !== login ? { status: 401 } : undefined,
    });
    const t = await createTestSource();
    try {
      const url = `${server.origin}/own/remote.git`;
      await t.resolve(url, "main");
      const second = await own.commit({ "a.txt": "two\n" });
      assert.equal((await t.resolve(url, "main")).id, second);
      login = "Basic nobody";
      await assert.rejects(t.resolve(url, "main"), { code: "repository_denied" });
      login = undefined;
      assert.equal((await t.resolve(url, "main")).id, second);
    } finally {
      await t.close();
      await server.close();
    }
  });
});
