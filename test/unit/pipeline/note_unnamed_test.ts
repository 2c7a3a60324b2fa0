import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type StackKey, stackKey } from "../../../src/model/mod.ts";
import { noteUnnamed, type ObsoleteRun } from "../../../src/pipeline/destroy/plan_obsolete.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const [key, other] = [stackKey("", "shop"), stackKey("", "other")];
const reference = "refs/heads/main";
const owner = { source: "own", target: "", reference };
const of = (name: string) => ({ source: { name }, reference, id: "1" });

/** A deployment of a stack, written down or found in a repository. */
const named = (name: string, repository?: string) => ({
  declared: { deployment: { name, context: key.context, destroy: { enabled: false } } },
  ...(repository && { found: { revision: of(repository) } }),
});
const failed = (repository: string) => ({ key, revision: of(repository) });

/** What is noted as new of a stack of the repository `apps`, and whether it counts as named by nothing. */
function ask(deployments: readonly unknown[], failures: readonly unknown[] = []) {
  const ledger = createMemoryLedger(createFakeClock());
  Object.assign(ledger, { current: ({ name }: StackKey) => name === "shop" ? {} : undefined });
  const policy = { delete: true, removeVolumes: true, removeImages: false };
  ledger.discovered.set({ key, owner, repository: "apps", directory: "shop", policy });
  const expansion = { deployments: [...deployments, named("other", "apps")], failures };
  const request = { target: "", deployments: [] };
  const run = { configuration: of("own"), request, expansion } as unknown as ObsoleteRun;
  const { unnamed } = noteUnnamed({ ledger }, run);
  return [ledger.discovered.get(key)?.fresh ?? [], unnamed.length > 0];
}

describe("noteUnnamed()", () => {
  const cases = [
    ["nothing names", ask([]), [[other], true]],
    ["its repository has", ask([named("shop", "apps")]), [[], false]],
    ["its repository has, broken", ask([], [failed("apps")]), [[], false]],
    ["the configuration writes down", ask([named("shop")]), [[], false]],
    ["the configuration's repository has", ask([named("shop", "own")]), [[], false]],
    ["another repository alone has", ask([named("shop", "theirs")]), [[other], false]],
    ["another repository alone has, broken", ask([], [failed("theirs")]), [[other], false]],
  ] as const;
  for (const [what, noted, expected] of cases) {
    it(`of a stack that ${what}`, () => assert.deepEqual(noted, expected));
  }
});
