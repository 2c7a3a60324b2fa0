import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Buffer } from "node:buffer";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { createRepository } from "../../fakes/git_repository.ts";
import { startGitHttpServer } from "../../fakes/git_http_server.ts";
import { createTestSource, never } from "../../fakes/git_source.ts";
import { listening, serveFiles } from "../../fakes/plain_server.ts";

it("a remote that sends another object than it says is what is damaged, not the mirror", async () => {
  const t = await createTestSource();
  const repository = await createRepository(join(t.directory, "remote"));
  await repository.commit({ "compose.yaml": "services: {}\n", "other.txt": "other\n" });
  const object = async (path: string) => {
    const id = (await repository.git("rev-parse", `HEAD:${path}`)).trim();
    return join(repository.path, "objects", id.slice(0, 2), id.slice(2));
  };
  const [wrong, other] = [await object("compose.yaml"), await object("other.txt")];
  execFileSync("git", ["-C", repository.path, "update-server-info"]);
  const server = await serveFiles(repository.path);
  try {
    chmodSync(wrong, 0o644);
    writeFileSync(wrong, readFileSync(other));
    await assert.rejects(t.resolve(server.url, "main"), (error) => {
      assert.ok(isStackwrightError(error, "source_invalid"), String(error));
      assert.match(error.message, /what the remote sends is damaged, or not what it says it is/);
      assert.doesNotMatch(error.message, /the mirror is damaged/);
      return true;
    });
  } finally {
    await server.close();
    await t.close();
  }
});

it("a remote that has its history in any number of files fills no disk", async () => {
  const t = await createTestSource({ options: { mostBytes: 512 * 1024 } });
  const repository = await createRepository(join(t.directory, "remote"));
  const good = await repository.commit({ "compose.yaml": "services: {}\n" });
  const update = () => execFileSync("git", ["-C", repository.path, "update-server-info"]);
  update();
  const server = await serveFiles(repository.path, 5);
  try {
    const first = await t.resolve(server.url, "main");
    assert.equal(first.id, good);
    const before = objects(t.dataDir);
    const many = Array.from({ length: 1500 }, (_, at) => [`f${at}`, `${at}`]);
    await repository.commit(Object.fromEntries(many));
    update();
    await assert.rejects(t.resolve(server.url, "main"), {
      code: "source_invalid",
      message: /has more than the 524288 bytes of GIT_MAX_BYTES/,
    });
    assert.deepEqual(objects(t.dataDir), before);
    assert.ok(await t.source.materialise(first, never()));
  } finally {
    await server.close();
    await t.close();
  }
});

it("a remote whose HEAD leads to what is no name is asked for HEAD", async () => {
  const t = await createTestSource();
  const repository = await createRepository(join(t.directory, "remote"));
  const head = await repository.commit({ "a": "1\n" });
  await repository.branch("other");
  for (const name of ["refs/heads/*", "refs/heads/x^{/a}", `refs/heads/${"x".repeat(3000)}`, "x"]) {
    const server = await startGitHttpServer({ root: join(t.directory, "remote") });
    const front = await listening(async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { host: _host, ...headers } = request.headers as Record<string, string>;
      const sent = request.method === "POST" ? { body: Buffer.concat(chunks) } : {};
      const answer = await fetch(server.origin + request.url, {
        method: request.method ?? "GET",
        headers,
        ...sent,
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const type = answer.headers.get("content-type") ?? "";
      response.writeHead(answer.status, { "content-type": type });
      response.end(withHead(bytes, name));
    });
    try {
      const found = await t.resolve(`${front.origin}/remote.git`, "HEAD");
      assert.deepEqual([found.id, found.reference], [head, "HEAD"], name.slice(0, 50));
    } finally {
      await front.close();
      await server.close();
    }
  }
  await t.close();
});

/** An answer of git in which HEAD leads elsewhere. */
function withHead(bytes: Buffer, name: string): Buffer {
  const text = bytes.toString("latin1");
  const line = /[0-9a-f]{4}([0-9a-f]{40} HEAD symref-target:)refs\/heads\/main([^\n]*\n)/.exec(
    text,
  );
  if (line === null) return bytes;
  const made = `${line[1]}${name}${line[2]}`;
  const length = (made.length + 4).toString(16).padStart(4, "0");
  return Buffer.from(text.replace(line[0], () => length + made), "latin1");
}

/** A server that answers with `answer`. */
/** Files of objects below a data directory. */
function objects(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, encoding: "utf8" })
    .filter((path) => /\/objects\/.*\/[^/]+$/.test(path) && !path.endsWith("/pack")).sort();
}
