import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type StackKey, stackKey } from "../../../src/model/mod.ts";
import { noteUnnamed, type ObsoleteRun } from "../../../src/pipeline/destroy/plan_obsolete.ts";
import type { Ledger } from "../../../src/record/ledger.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const [key, other] = [stackKey("", "shop"), stackKey("", "other")];
const reference = "refs/heads/main";
const owner = { source: "own", target: "", reference };
const of = (name: string) => ({ source: { name }, reference, id: "1" });

/** Facts about any decision. */
const ABOUT = {
  trigger: "poll",
  origin: "automatic",
  revision: of("own"),
} as unknown as Parameters<
  Ledger["decisions"]["add"]
>[1];

/** A deployment of a stack, written down or found in a repository. */
const named = (name: string, repository?: string) => ({
  declared: { deployment: { name, context: key.context, destroy: { enabled: false } } },
  ...(repository && { found: { revision: of(repository) } }),
});
const failed = (repository: string) => ({ key, revision: of(repository) });

/** What is noted as new of a stack of the repository `apps`, and whether it counts as named by nothing. */
async function ask(deployments: readonly unknown[], failures: readonly unknown[] = []) {
  const ledger = createMemoryLedger(createFakeClock());
  Object.assign(ledger, { current: ({ name }: StackKey) => name === "shop" ? {} : undefined });
  const policy = { delete: true, removeVolumes: true, removeImages: false };
  ledger.discovered.set({ key, owner, repository: "apps", directory: "shop", policy });
  const expansion = { deployments: [...deployments, named("other", "apps")], failures };
  const request = { target: "", deployments: [] };
  const wantedBeside = () => Promise.resolve([]);
  const run = { configuration: of("own"), request, expansion, wantedBeside };
  const { unnamed } = await noteUnnamed({ ledger }, run as unknown as ObsoleteRun);
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
    it(`of a stack that ${what}`, async () => assert.deepEqual(await noted, expected));
  }

  for (const [what, isAfter] of [["after", true], ["before", false]] as const) {
    it(`of one whose neighbour of another target came ${what} it was named last`, async () => {
      const clock = createFakeClock();
      const ledger = createMemoryLedger(clock);
      const deploy = (each: StackKey) =>
        ledger.succeed(ledger.beginDeploy(releaseOf(each, "1")), {}, "");
      const decided = { kind: "skip", reason: "no_changes", message: "" } as const;
      const note = () =>
        ledger.decisions.add(key, { ...ABOUT, ...decided, changes: [], services: [] }, clock.now());
      deploy(key);
      if (isAfter) note();
      await clock.advance(1000);
      deploy(other);
      await clock.advance(1000);
      if (!isAfter) note();
      const policy = { delete: true, removeVolumes: true, removeImages: false };
      ledger.discovered.set({ key, owner, repository: "apps", directory: "shop", policy });
      const wantedBeside = () => Promise.resolve([other]);
      const expansion = { deployments: [], failures: [] };
      const request = { target: "", deployments: [] };
      const run = { configuration: of("own"), request, expansion, wantedBeside };
      await noteUnnamed({ ledger }, run as unknown as ObsoleteRun);
      assert.deepEqual(ledger.discovered.get(key)?.fresh, isAfter ? [other] : []);
    });
  }
});
