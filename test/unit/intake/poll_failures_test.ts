import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PollFailures } from "../../../src/intake/poll_failures.ts";
import type { Sync } from "../../../src/model/mod.ts";

const of = (reference: string): Sync => ({
  kind: "sync",
  trigger: "poll",
  origin: "automatic",
  sources: [{ kind: "git", url: "https://h/x", reference, target: "", deployments: [] }],
});

describe("PollFailures", () => {
  it("tells a failure that was there before, one that changed, and its end, for each source", () => {
    const failures = new PollFailures();
    const [main, dev] = [of("main"), of("dev")];
    const told = [
      failures.note(main, undefined),
      failures.note(main, "no host"),
      failures.note(main, "no host"),
      failures.note(dev, "no host"),
      failures.note(main, "no key"),
      failures.note(main, undefined),
      failures.note(main, undefined),
      failures.note(main, "no host"),
      failures.note(dev, "no host"),
    ];
    const expected = [undefined, undefined, "again", undefined, undefined, "over", undefined];
    assert.deepEqual(told, [...expected, undefined, "again"]);
  });

  it("says whatever a person or a webhook asked for", () => {
    const failures = new PollFailures();
    for (const more of [{ origin: "manual" }, { trigger: "webhook" }] as const) {
      const work = { ...of("main"), ...more };
      assert.deepEqual([failures.note(work, "no"), failures.note(work, "no")], [
        undefined,
        undefined,
      ]);
    }
  });
});
