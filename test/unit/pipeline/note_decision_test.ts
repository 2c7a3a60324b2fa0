import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Revision, type SourceRequest, stackKey } from "../../../src/model/mod.ts";
import { noteDecision } from "../../../src/pipeline/decide/note_decision.ts";
import type { Decision } from "../../../src/pipeline/decision.ts";
import { keepDeferred } from "../../../src/pipeline/destroy/plan_obsolete.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import type { Target } from "../../../src/prepare/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const key = stackKey("", "shop");
const [fresh] = [[stackKey("", "new")]];
const source = { kind: "git", url: "https://a.test/a", name: "a.test/a" } as const;
const reference = "refs/heads/main";
const configuration: Revision = { source, reference, id: "1".repeat(40) };
const owner = { source: source.name, target: "", reference };
const policy = { delete: true, removeVolumes: true, removeImages: false };
const stack = { key, owner, repository: source.name, directory: "apps/shop", policy };
const request: SourceRequest = {
  ...{ kind: "git", url: source.url, reference: "main", target: "", deployments: [] },
};
const skipped = (reason: "no_changes" | "superseded"): Decision => ({
  kind: "skip",
  plan: { kind: "skip", reason, message: "", services: [] },
  changes: [],
});

/** What a stack was recorded with by a newer run, and a decision of an older one, which may be late. */
function createNoted(isLate: boolean) {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.discovered.set({ ...stack, fresh });
  const asker = { source: source.name, reference };
  ledger.deferred.set(key, { trigger: "poll", request, asker });
  ledger.owners.settle(key, owner);
  const overtaken = (looked: readonly Revision[]) => isLate ? looked : [];
  const parts = {
    ...{ ledger, newest: { overtaken }, options: { queuesDeferred: true } },
    secrets: { settle: () => {} },
  } as unknown as PipelineParts;
  const note = (decision: Decision) => {
    const deployment = { workingDir: "apps/shop" };
    const from = { configuration, revision: configuration, trigger: "poll", origin: "automatic" };
    const target = { key, deployment, discovered: stack, ...from } as unknown as Target;
    noteDecision(parts, { target, request }, decision);
    return {
      fresh: ledger.discovered.get(key)?.fresh,
      waits: ledger.deferred.get(key) !== undefined,
    };
  };
  return { note, parts, ledger };
}

describe("noteDecision()", () => {
  it("keeps what a newer run has noted of a stack that is found unchanged since", () => {
    assert.deepEqual(createNoted(true).note(skipped("no_changes")).fresh, fresh);
    assert.equal(createNoted(false).note(skipped("no_changes")).fresh, undefined);
  });

  it("notes nothing of what is left to a newer run", () => {
    assert.deepEqual(createNoted(true).note(skipped("superseded")), { fresh, waits: true });
    // One that goes back to an older commit is the newest run all the same.
    assert.deepEqual(createNoted(false).note(skipped("superseded")), { fresh, waits: false });
  });
});

describe("keepDeferred()", () => {
  for (const isLate of [false, true]) {
    it(isLate ? "keeps what a newer run may name" : "forgets what nothing names", () => {
      const { parts, ledger } = createNoted(isLate);
      const expansion = { deployments: [], failures: [], scans: [], left: [] };
      const run = { request, configuration, expansion } as unknown as Parameters<
        typeof keepDeferred
      >[1];
      keepDeferred(parts, run, []);
      assert.equal(ledger.deferred.get(key) !== undefined, isLate);
    });
  }
});
