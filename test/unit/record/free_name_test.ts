import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { requireFreeName } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "./releases.ts";

const KEY = stackKey("", "shop");
const RELEASE = releaseOf(KEY, "a".repeat(40));
const at = (name: string) => ({
  ...RELEASE.revision,
  source: { ...RELEASE.revision.source, name },
});
const OWNER = { source: "h/conf", target: "", reference: "refs/heads/main" };

const POLICY = { delete: false, removeVolumes: false, removeImages: false };

/** The stack `shop`, discovered in a repository; written down by default. */
const shop = (repository?: string) =>
  repository === undefined
    ? undefined
    : { key: KEY, owner: OWNER, repository, directory: "apps/shop", policy: POLICY };

describe("requireFreeName()", () => {
  const deployed = (repository: string, clock = createFakeClock()) => {
    const ledger = createMemoryLedger(clock);
    const owner = { source: "h/conf", reference: "refs/heads/main" };
    ledger.owners.settle(KEY, owner, { repository, isFound: false });
    const release = { ...RELEASE, revision: at(repository), configuration: at("h/conf") };
    ledger.succeed(ledger.beginDeploy(release), {}, "done");
    return ledger;
  };
  const take = (ledger: ReturnType<typeof deployed>, repository?: string) =>
    requireFreeName(ledger, shop(repository));
  const refused = (ledger: ReturnType<typeof deployed>, from: string) =>
    assert.throws(() => take(ledger, "h/app"), { code: "conflict", message: new RegExp(from) });

  it("takes a name that nobody has, or that the same repository has", () => {
    take(createMemoryLedger(createFakeClock()), "h/app");
    take(deployed("h/app"), "h/app");
  });

  it("takes whatever the configuration's own repository has, or writes down", () => {
    take(deployed("h/app"), "h/conf");
    take(deployed("h/app"));
  });

  it("refuses the name of a stack that another repository has, the configuration's too", () => {
    refused(deployed("h/conf"), "deployed from h/conf,");
    refused(deployed("h/third"), "deployed from h/third,");
  });

  it("refuses it after the stack was destroyed, while its owner is recorded", () => {
    const ledger = deployed("h/third");
    ledger.destroyed(ledger.beginDestroy(KEY, {}), "done", { keepsOwner: true });
    refused(ledger, "h/third");
    ledger.destroyed(ledger.beginDestroy(KEY, {}), "done");
    take(ledger, "h/app");
  });

  it("refuses it after the releases were forgotten, also of a stack that was handed over", async () => {
    for (const isAdopted of [false, true]) {
      const clock = createFakeClock();
      const ledger = deployed("h/third", clock);
      const main = { source: "h/conf", reference: "refs/heads/main" };
      if (isAdopted) ledger.handOver(KEY, main, { releasesOf: "", also: [] });
      ledger.destroyed(ledger.beginDestroy(KEY, {}), "done", { keepsOwner: true });
      await clock.advance(91 * 24 * 3600 * 1000);
      const other = stackKey("", "other");
      ledger.destroyed(ledger.beginDestroy(other, {}), "done");
      assert.deepEqual(ledger.history(KEY, 1), []);
      refused(ledger, "h/third");
      if (!isAdopted) ledger.handOver(KEY, main, { releasesOf: "", also: [] });
      refused(ledger, "h/third");
      ledger.destroyed(ledger.beginDestroy(KEY, {}), "done");
      take(ledger, "h/app");
    }
  });

  it("refuses the name of a stack that was discovered elsewhere and has no release", () => {
    const ledger = createMemoryLedger(createFakeClock());
    ledger.discovered.set({ key: KEY, owner: OWNER, repository: "h/third", directory: "a" });
    refused(ledger, "h/third");
  });
});
