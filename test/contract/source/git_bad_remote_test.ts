import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { createRepository } from "../../fakes/git_repository.ts";
import { createTestSource } from "../../fakes/git_source.ts";

/** Gives the files of a directory, as servers do that know nothing of Git. */
async function serveFiles(directory: string) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(directory, pathname.replace(/^\/r\.git/, ""));
    if (existsSync(path) && statSync(path).isFile()) response.end(readFileSync(path));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/r.git`,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

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
