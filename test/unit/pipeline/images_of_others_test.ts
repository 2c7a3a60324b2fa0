import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatStackKey, stackKey } from "../../../src/model/mod.ts";
import { imagesOfOthers } from "../../../src/pipeline/rollout/prune_images.ts";
import { UNTOUCHED_IMAGES } from "../../../src/prepare/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const [SHOP, WIKI] = [stackKey("", "shop"), stackKey("", "wiki")];

describe("imagesOfOthers()", () => {
  it("has what other stacks' releases run, and what is prepared for them by the time of the question", async () => {
    const ledger = createMemoryLedger(createFakeClock());
    for (const key of [SHOP, WIKI]) {
      const intent = ledger.beginDeploy(releaseOf(key, "a".repeat(40)));
      ledger.succeed(intent, { web: `sha256:${key.name}` }, "done");
    }
    const imagesAhead = new Map<string, Set<string>>();
    const parts = {
      ...{ ledger, imagesAhead, options: { imageRetention: 1 } },
      host: { engine: { listImages: () => Promise.resolve([]) }, images: UNTOUCHED_IMAGES },
    } as unknown as Parameters<typeof imagesOfOthers>[0];
    const kept = await imagesOfOthers(parts, SHOP, new AbortController().signal);
    const has = () => ["shop", "wiki", "own", "new"].filter((each) => kept.has(`sha256:${each}`));
    assert.deepEqual(has(), ["wiki"]);
    imagesAhead.set(formatStackKey(SHOP), new Set(["sha256:own"]));
    imagesAhead.set(formatStackKey(WIKI), new Set(["sha256:new"]));
    assert.deepEqual(has(), ["wiki", "new"]);
    imagesAhead.delete(formatStackKey(WIKI));
    assert.deepEqual(has(), ["wiki"]);
  });
});
