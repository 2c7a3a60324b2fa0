import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Revision, stackKey } from "../../../src/model/mod.ts";
import { MOST_DEPLOYED, requireRoomForStack } from "../../../src/pipeline/decide/stack_limit.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const configuration: Revision = {
  source: { kind: "git", url: "https://host/many", name: "host/many" },
  reference: "refs/heads/main",
  id: "1",
};
const key = stackKey("", "next");

describe("requireRoomForStack()", () => {
  it("refuses another stack of a repository that has as many as it may", () => {
    const counted = (count: number) => ({ ledger: { countOf: () => count } });
    requireRoomForStack(counted(MOST_DEPLOYED - 1), { key, configuration });
    assert.throws(
      () => requireRoomForStack(counted(MOST_DEPLOYED), { key, configuration }),
      /next is not deployed: host\/many has 5000 stacks, at most 5000 are allowed; remove those/,
    );
  });

  it("counts the stacks of the repository that are deployed", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const deploy = (name: string, source: string) => {
      const own = stackKey("", name);
      ledger.succeed(ledger.beginDeploy(releaseOf(own, "1")), {}, "done");
      ledger.owners.settle(own, { source, reference: configuration.reference });
      return own;
    };
    deploy("a", "host/many");
    deploy("b", "host/other");
    const gone = deploy("c", "host/many");
    assert.equal(ledger.countOf("host/many"), 2);
    ledger.destroyed(ledger.beginDestroy(gone, {}), "destroyed", { keepsOwner: true });
    assert.equal(ledger.countOf("host/many"), 1);
  });
});
