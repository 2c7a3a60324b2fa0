import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors, type Revision, stackKey } from "../../../src/model/mod.ts";
import { decideAsOwner } from "../../../src/pipeline/owner/decide_as_owner.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import type { Target } from "../../../src/prepare/mod.ts";
import type { ResolveRequest } from "../../../src/source/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const { signal } = new AbortController();
const key = stackKey("", "shop");
const reference = "refs/heads/main";
const at = (name: string, id: string): Revision => ({
  ...{ source: { kind: "git", url: `https://${name}`, name }, reference, id: id.repeat(40) },
});

/**
 * Asks for a decision about a stack of the configuration `own`, whose release is from `own` as well, where all that
 * is looked at is late; tells what sources were asked, and why it was left.
 */
async function ask(configuration: Revision, revision: Revision, newest: string) {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.owners.settle(key, { source: "own", reference });
  const release = { ...releaseOf(key, "1"), revision: at("own", "1") };
  ledger.succeed(ledger.beginDeploy(release), {}, "done");
  const asked: string[] = [];
  const resolve = ({ location: { name } }: ResolveRequest) => {
    asked.push(name);
    if (newest === "away") return Promise.reject(errors.repository_unreachable("no answer"));
    return Promise.resolve(at(name, newest));
  };
  const refuse = () => Promise.reject(new Error("it is decided"));
  const parts = {
    ledger,
    newest: { overtaken: (looked: readonly Revision[]) => [...new Set(looked)] },
    source: { resolve },
    options: { cloneDepth: 0 },
    host: { info: () => Promise.resolve({}), own: refuse },
  } as unknown as PipelineParts;
  const target = {
    ...{ key, configuration, revision, trigger: "poll", origin: "automatic" },
    deployment: { repositoryUrl: "", reference: "" },
  } as unknown as Target;
  const decision = await decideAsOwner(parts, target, signal).catch(() => undefined);
  return [asked, decision?.kind === "skip" ? decision.plan.reason : "decided"];
}

describe("decideAsOwner(), of a commit instead of which another run found another one", () => {
  const own = at("own", "1");
  const rows: readonly [string, Revision, Revision, string, readonly string[], string][] = [
    ["leaves it to that run", own, own, "2", ["own"], "superseded"],
    ["repairs at most what is deployed while it is away", own, own, "away", ["own"], "superseded"],
    ["decides where the source names it again", own, own, "1", ["own"], "decided"],
    ["does not ask a repository that the stack is not from", own, at("b", "1"), "1", [
      "own",
    ], "decided"],
    ["does not ask a source whose stack it is not", at("b", "1"), at("b", "1"), "2", [], "decided"],
  ];
  for (const [name, configuration, revision, newest, asked, end] of rows) {
    it(name, async () => {
      assert.deepEqual(await ask(configuration, revision, newest), [asked, end]);
    });
  }
});
