import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Buffer } from "node:buffer";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHttpClient, type HttpClient } from "../../../src/system/mod.ts";
import {
  type GitHttpOptions,
  type GitHttpServer,
  startGitHttpServer,
} from "../../fakes/git_http_server.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import {
  createTestSource,
  never,
  type TestSource,
  type TestSourceOptions,
} from "../../fakes/git_source.ts";

const LOGIN = "oauth2:s3cret-token-value";
const GRANTED = { global: { accessToken: "s3cret-token-value" }, tokenHosts: ["127.0.0.1"] };

let root: string;
let repository: FakeRepository;
let url: string;
before(async () => {
  root = mkdtempSync(join(tmpdir(), "swt-small-"));
  repository = await createRepository(join(root, "o"));
  await repository.commit({ "a.txt": "one\n", "deep/b.txt": "b\n".repeat(400) });
});
after(() => rmSync(root, { recursive: true }));

interface Fetched {
  readonly server: GitHttpServer;
  readonly t: TestSource;
}

/** A source that has the newest commit, and a server that has seen nothing since. */
async function withSource(
  { settings = {}, served = {} }: {
    readonly settings?: TestSourceOptions;
    readonly served?: Partial<GitHttpOptions>;
  },
  test: (fetched: Fetched) => Promise<void>,
  depth = 0,
): Promise<void> {
  const server = await startGitHttpServer({ root, ...served });
  const t = await createTestSource(settings);
  url = `${server.origin}/o/remote.git`;
  try {
    await t.resolve(url, "main", depth);
    assert.equal(t.count("fetch"), 1);
    server.seen.length = 0;
    t.commands.length = 0;
    await test({ server, t });
  } finally {
    await t.close();
    await server.close();
  }
}

/** Commits, looks, and makes sure that all of the commit is here and that the mirror is whole. */
async function fetchNext(t: TestSource, text: string, depth = 0): Promise<void> {
  const id = await repository.commit({ "a.txt": text, "deep/c.txt": text });
  const revision = await t.resolve(url, "main", depth);
  assert.equal(revision.id, id);
  const content = await t.source.read(revision, "a.txt", never(), 1 << 24);
  assert.equal(new TextDecoder().decode(content), text);
  const mirror = mirrorOf(t);
  execFileSync("git", ["fsck", "--strict", "--connectivity-only"], { cwd: mirror, stdio: "pipe" });
  const log = execFileSync("git", ["rev-list", "--count", "--all"], { cwd: mirror });
  assert.ok(depth > 0 || Number(String(log)) >= 2);
}

function mirrorOf(t: TestSource): string {
  return t.commands.flatMap(({ argv }) => argv)
    .find((each) => each.startsWith("--git-dir="))?.slice("--git-dir=".length) ?? "";
}

/** A client that hands something else on than the packs that servers send. */
function tampering(change: (bytes: Uint8Array) => Uint8Array): HttpClient {
  const real = createHttpClient();
  return {
    close: () => real.close(),
    async send(request, signal) {
      const answer = await real.send(request, signal);
      if (!request.body?.includes("command=fetch") || answer.bytes === undefined) return answer;
      const { status, header, body } = answer;
      return { status, header, body, bytes: change(answer.bytes) };
    },
  };
}

/** An answer with a pack of some objects. */
function answerWith(objects: readonly string[]): Uint8Array {
  const cwd = join(root, "o", "remote.git");
  const input = objects.map((each) => `${each}\n`).join("");
  const pack = execFileSync("git", ["pack-objects", "--stdout", "-q"], { cwd, input });
  const piece = (data: Uint8Array) =>
    Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, "0")), data]);
  const parts = [piece(Buffer.from("packfile\n")), piece(Buffer.concat([Buffer.from([1]), pack]))];
  return Buffer.concat([...parts, Buffer.from("0000")]);
}

describe("the next commit of a branch over HTTP", () => {
  it("is fetched by one question more, and the mirror is whole", () =>
    withSource({}, async ({ server, t }) => {
      await fetchNext(t, "two\n");
      await fetchNext(t, "three\n");
      assert.deepEqual(server.seen.map(({ method }) => method), Array(4).fill("POST"));
      assert.deepEqual([t.count("fetch"), t.count("index-pack")], [0, 2]);
    }));

  it("is fetched with the login that the remote wants", () =>
    withSource(
      { served: { login: LOGIN }, settings: { credentials: GRANTED } },
      async ({ server, t }) => {
        await fetchNext(t, "four\n");
        assert.equal(t.count("fetch"), 0);
        const basic = `Basic ${Buffer.from(LOGIN).toString("base64")}`;
        assert.deepEqual(server.seen.map((each) => each.authorization), [basic, basic]);
      },
    ));

  it("is left to git where history is cut, and for a branch that is new here", () =>
    withSource({}, async ({ t }) => {
      await fetchNext(t, "five\n", 1);
      assert.equal(t.count("fetch"), 1);
      await repository.branch("other");
      await repository.commit({ "a.txt": "six\n" });
      await repository.branch("other");
      await t.resolve(url, "other", 1);
      assert.equal(t.count("fetch"), 2);
    }, 1));

  it("takes away the half of a pack that a killed process left in the mirror", () =>
    withSource({}, async ({ t }) => {
      await fetchNext(t, "seven\n");
      const packs = join(mirrorOf(t), "objects", "pack");
      const half = join(packs, "tmp_pack_dead");
      writeFileSync(half, "PACK");
      const longAgo = new Date(Date.now() - 600_000);
      utimesSync(half, longAgo, longAgo);
      await fetchNext(t, "eight\n");
      assert.equal(t.count("fetch"), 0);
      assert.deepEqual(readdirSync(packs).filter((each) => each.startsWith("tmp_")), []);
    }));

  it("leaves what another process just began alone when nothing came", async () => {
    let packs: string | undefined;
    const http = tampering((bytes) => {
      if (packs === undefined) return bytes;
      writeFileSync(join(packs, "tmp_pack_other"), "PACK");
      return new Uint8Array();
    });
    await withSource({ settings: { options: { http } } }, async ({ t }) => {
      await fetchNext(t, "nine\n");
      packs = join(mirrorOf(t), "objects", "pack");
      await fetchNext(t, "ten\n");
      assert.equal(t.count("fetch"), 1);
      assert.ok(readdirSync(packs).includes("tmp_pack_other"));
    });
    http.close();
  });

  const TAMPERED: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array])[] = [
    ["ends in the middle", (bytes) => bytes.subarray(0, bytes.length - 30)],
    ["is empty", () => new Uint8Array()],
    ["is damaged", (bytes) => bytes.map((each, at) => at === bytes.length - 40 ? each ^ 1 : each)],
    ["has no files of its commit", () => {
      const git = (name: string) =>
        String(execFileSync("git", ["rev-parse", name], { cwd: join(root, "o", "remote.git") }))
          .trim();
      return answerWith([git("main"), git("main^{tree}")]);
    }],
  ];
  for (const [index, [what, change]] of TAMPERED.entries()) {
    it(`is left to git when what the remote sends ${what}`, async () => {
      const http = tampering(change);
      await withSource({ settings: { options: { http } } }, async ({ t }) => {
        await fetchNext(t, `tampered ${index}\n`);
        assert.equal(t.count("fetch"), 1);
      });
      http.close();
    });
  }
});
