import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ancestry } from "../../../../src/source/git/ancestry.ts";
import type { CommitPlace } from "../../../../src/source/git/repository.ts";
import { processorMs } from "../../processor_time.ts";

const [OLDER, NEWER] = ["a".repeat(40), "b".repeat(40)];

describe("Ancestry", () => {
  it("leaves a commit with as many parents as are read to git", async () => {
    const parents = Array.from({ length: 20_000 }, (_, each) => {
      return `parent ${each.toString(16).padStart(40, "0")}\n`;
    });
    const data = new TextEncoder().encode(parents.join(""));
    const place = (commit: string) => ({
      commit,
      repository: {
        objects: {
          commit: () => Promise.resolve({ size: data.length }),
          contents: () => Promise.resolve({ data }),
        },
        mirror: { directory: "", run: () => Promise.resolve({ code: 0 }) },
      },
    } as unknown as CommitPlace);
    const signal = new AbortController().signal;
    const began = processorMs();
    assert.equal(await new Ancestry().tell(place(OLDER), place(NEWER), signal), true);
    const took = processorMs() - began;
    assert.ok(took < 500, `it took ${took} ms`);
  });
});
