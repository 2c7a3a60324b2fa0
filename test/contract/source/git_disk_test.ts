import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { sourceLocation } from "../../../src/source/mod.ts";
import { startEndlessPacks } from "../../fakes/endless_packs.ts";
import { createRepository } from "../../fakes/git_repository.ts";
import { createTestSource } from "../../fakes/git_source.ts";

const MIB = 1024 ** 2;
const GIB = 1024 * MIB;

/** Bytes of all files below a directory. */
function bytesBelow(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return names.reduce((sum, name) => {
    const info = statSync(join(directory, name), { throwIfNoEntry: false });
    return sum + (info?.isFile() ? info.size : 0);
  }, 0);
}

it("fetches that hold the disk without an end make room for those of others", async () => {
  // New repositories leave 2 GiB free on this disk.
  const room = () => {
    const free = 2 * GIB + 10 * MIB - bytesBelow(t.dataDir);
    return Promise.resolve({ free, total: 100 * GIB, entries: { free: 1e9, total: 1e9 } });
  };
  const t = await createTestSource({ room });
  mkdirSync(t.dataDir);
  const repository = await createRepository(join(t.directory, "remote"));
  const over = new AbortController();
  const server = await startEndlessPacks(4 * MIB);
  const resolve = (url: string, by: string) => {
    const request = { location: sourceLocation("git", url), reference: "main", depth: 0, by };
    return t.source.resolve(request, over.signal);
  };
  const held = ["a", "b"].map((name) => {
    const error = resolve(server.url(name), "holder").then(() => "", String);
    return { name, error };
  });
  try {
    while (bytesBelow(t.dataDir) < 7 * MIB) await new Promise((resolve) => setTimeout(resolve, 20));
    await repository.commit({ "large": randomBytes(3 * MIB).toString("latin1") });
    const id = await repository.git("rev-parse", "HEAD");
    assert.equal((await resolve(repository.url, "another")).id, id);
    const ended = await Promise.race(
      held.map(({ name, error }) => error.then((e) => ({ name, e }))),
    );
    assert.match(
      ended.e,
      /no space left for a repository that .* what goes on for holder the most, so it was ended/,
    );
    assert.ok(bytesBelow(t.mirror(server.url(ended.name))) < MIB);
  } finally {
    over.abort();
    await Promise.all(held.map(({ error }) => error));
    await server.close();
    await t.close();
  }
});
