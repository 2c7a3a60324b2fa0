import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MirrorContent } from "../../../../src/source/git/mirror_content.ts";
import type { MirrorParts } from "../../../../src/source/git/mirror_parts.ts";
import { createKeyedLock } from "../../../../src/system/mod.ts";

const ID = "1".repeat(40);

describe("MirrorContent", () => {
  it("measures a history while git takes long for that of another repository", async () => {
    const lock = createKeyedLock();
    const stop = new AbortController();
    const local = ({ gitDir }: { readonly gitDir: string }) =>
      gitDir === "/slow"
        ? new Promise((_, reject) => stop.signal.addEventListener("abort", () => reject("stopped")))
        : Promise.resolve({ stdout: new TextEncoder().encode(`${ID}\n`) });
    const content = (directory: string) =>
      new MirrorContent({
        ...{ lock, directory, name: directory, git: { local } },
        files: {
          stat: () => Promise.resolve({ id: "1", size: 41, modifiedAt: new Date(0) }),
          readPlain: () => Promise.resolve({ data: new TextEncoder().encode(`${ID}\n`) }),
        },
      } as unknown as MirrorParts);
    const slow = content("/slow").depthOf(ID, stop.signal);
    const quick = content("/quick").depthOf(ID, AbortSignal.timeout(2000));
    assert.equal(await quick, 1);
    stop.abort();
    await assert.rejects(slow);
  });
});
