import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { RevisionReader } from "../../../src/source/git/revision_reader.ts";
import { RevisionFiles } from "../../../src/source/trees/revision_files.ts";
import { longestStretch, processorMs } from "../processor_time.ts";

const id = "0123456789abcdef0123456789abcdef01234567";

describe("RevisionFiles.list()", () => {
  it("keeps nothing waiting with as many entries as there may be", async () => {
    const listed = new Map(
      Array.from({ length: 200_000 }, (_, at) => [`f${at}`, { kind: "file", id, size: 1 }]),
    );
    const repository = {
      paths: { find: () => Promise.resolve({ kind: "directory", id }) },
      listings: { below: () => Promise.resolve(listed) },
    };
    const first = { source: {}, part: { repository, commit: id, prefix: "" } } as never;
    const files = new RevisionFiles(() => ({ submodules: false }) as never);
    let found: ReadonlyMap<string, unknown> = new Map();
    const began = processorMs();
    const longest = await longestStretch(async () => {
      found = await files.list(first, "app", new AbortController().signal);
    });
    const whole = processorMs() - began;
    assert.ok(longest < whole / 2, `${longest} of ${whole} ms in one go`);
    assert.equal(found.size, listed.size);
    assert.deepEqual(found.get("app/f7"), { kind: "file", id });
  });
});

/** A commit with one directory in the other, as many as a path may have. */
function deep(levels: number): RevisionReader {
  const idOf = (level: number) => level.toString(16).padStart(40, "0");
  const reader = {
    commit: () => Promise.resolve({ id }),
    info: (name: string) => Promise.resolve({ id: name }),
    contents: (info: { id: string }, _: AbortSignal, use?: (object: unknown) => unknown) => {
      if (use === undefined) return Promise.resolve({ data: Buffer.from(`tree ${idOf(1)}\n`) });
      const level = Number.parseInt(info.id, 16);
      const mode = level === levels ? "100644" : "40000";
      const data = Buffer.concat([
        Buffer.from(`${mode} d\0`),
        Buffer.from(idOf(level + 1), "hex"),
      ]);
      return Promise.resolve(use({ data }));
    },
  };
  return new RevisionReader(reader as never);
}

describe("RevisionFiles.entries()", () => {
  it("keeps nothing waiting with as many deep paths as there may be", async () => {
    const repository = { paths: deep(255), mirror: { directory: "/m" } };
    const first = { source: {}, part: { repository, commit: id, prefix: "" } } as never;
    const files = new RevisionFiles(() => ({ submodules: true }) as never);
    const paths = Array.from({ length: 1020 }, (_, at) => `${"d/".repeat(254)}${at || "d"}`);
    let found: ReadonlyMap<string, unknown> = new Map();
    const longest = await longestStretch(async () => {
      found = await files.entries(first, paths, new AbortController().signal);
    });
    assert.ok(longest < 500, `${longest} ms in one go`);
    assert.deepEqual([...found.keys()], [paths[0]]);
  });
});
