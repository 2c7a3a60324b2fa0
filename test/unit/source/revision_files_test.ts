import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
