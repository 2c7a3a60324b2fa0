import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownership, type OwnershipFacts, requireRepository } from "../../../src/deploy/mod.ts";
import {
  isStackwrightError,
  LABELS,
  MANAGER,
  type ObservedContainer,
  stackKey,
  type StackOwner,
} from "../../../src/model/mod.ts";

const KEY = stackKey("", "shop");
const MAIN = "refs/heads/main";
const MINE: StackOwner = { source: "host/a/shop", reference: MAIN };

function facts(more: Partial<OwnershipFacts> = {}): OwnershipFacts {
  return { observed: { containers: [] }, volumes: [], adopted: false, ...more };
}

function containers(...labels: Record<string, string>[]) {
  const all = labels.map((each, index): ObservedContainer => ({
    id: `${index}`,
    name: `shop-${index}`,
    service: "web",
    state: "running",
    health: "none",
    exitCode: undefined,
    imageId: "sha256:1",
    labels: each,
  }));
  return { observed: { containers: all } };
}

function labels(source: string, more: Record<string, string> = {}) {
  return { [LABELS.manager]: MANAGER, [LABELS.sourceName]: source, ...more };
}

function refuses(given: OwnershipFacts, pattern: RegExp, claimant = MINE): void {
  assert.throws(
    () => ownership(KEY, given, claimant),
    (error) =>
      isStackwrightError(error, "conflict") && pattern.test(error.message) &&
      error.message.includes("stackwright adopt shop --source host/a/shop"),
  );
}

describe("ownership()", () => {
  it("tells whose containers there are", () => {
    assert.equal(ownership(KEY, facts(), MINE), "nobody");
    assert.equal(ownership(KEY, facts(containers(labels("host/a/shop"))), MINE), "ours");
    assert.equal(ownership(KEY, facts(containers({})), MINE), "unmanaged");
    const beside = labels("host/x/app", { [LABELS.sourceConfiguration]: "host/a/shop" });
    assert.equal(ownership(KEY, facts(containers(beside)), MINE), "ours");
  });

  it("asks the ledger, the containers and the volumes", () => {
    const theirs = { source: "host/b/shop", reference: MAIN };
    refuses(facts({ recorded: theirs }), /already belongs to host\/b\/shop \(refs\/heads\/main\)/);
    refuses(facts(containers(labels("host/b/shop"))), /host\/b\/shop \(container shop-0\)/);
    const volumes = [{ name: "shop_data", labels: labels("host/b/shop") }];
    refuses(facts({ volumes }), /data of host\/b\/shop \(volume shop_data\)/);
    const deployed = [{ name: "shop_data", labels: labels("host/x/app") }];
    refuses(facts({ volumes: deployed }), /data of host\/x\/app/);
    const own = [{ name: "shop_data", labels: labels("host/a/shop") }, { name: "old", labels: {} }];
    assert.equal(ownership(KEY, facts({ volumes: own }), MINE), "nobody");
  });

  it("names a branch so that a shell takes it for one word, whatever its author called it", () => {
    const recorded = { source: "host/b/shop", reference: MAIN };
    for (
      const [reference, word] of [
        [MAIN, MAIN],
        ["refs/heads/a;reboot", "'refs/heads/a;reboot'"],
        ["refs/heads/it's$(id)", "'refs/heads/it'\\''s$(id)'"],
      ] as const
    ) {
      assert.throws(
        () => ownership(KEY, facts({ recorded }), { ...MINE, reference }),
        (error: Error) =>
          error.message.endsWith(`adopt shop --source host/a/shop --reference ${word}`),
      );
    }
  });

  it("tells branches of one source apart, and no other references", () => {
    const recorded = { source: "host/a/shop", reference: "refs/heads/dev" };
    refuses(facts({ recorded }), /refs\/heads\/dev/);
    assert.equal(ownership(KEY, facts({ recorded }), { ...MINE, reference: "" }), "nobody");
    const unknown = { source: "host/a/shop", reference: "" };
    assert.equal(ownership(KEY, facts({ recorded: unknown }), MINE), "nobody");
  });

  it("labels do not count where a person handed the stack over", () => {
    const given = facts({ ...containers(labels("host/b/shop")), recorded: MINE, adopted: true });
    assert.equal(ownership(KEY, given, MINE), "ours");
    refuses({ ...given, recorded: { source: "host/c/shop", reference: "" } }, /host\/c\/shop/);
  });
});

describe("requireRepository()", () => {
  const [from, third] = ["host/x/app", "host/y/app"];
  const by = (source: string) => labels(source, { [LABELS.sourceConfiguration]: MINE.source });
  const ask = (given: OwnershipFacts) => requireRepository(KEY, given, from, MINE);

  it("refuses what labels say is from another repository, the configuration's too", () => {
    ask(facts());
    ask(facts({ ...containers(by(from), {}), volumes: [{ name: "data", labels: by(from) }] }));
    const refused = (given: OwnershipFacts, message: RegExp) =>
      assert.throws(() => ask(given), { code: "conflict", message });
    refused(
      facts(containers(by(from), by(third))),
      /^conflict: container shop-1 of shop is from host\/y/,
    );
    refused(
      facts(containers(by(MINE.source))),
      /is from host\/a\/shop, so shop was not deployed from/,
    );
    const volumes = [{ name: "data", labels: labels(third) }];
    refused(
      facts({ ...containers(by(from)), volumes }),
      /volume data of shop is from host\/y\/app/,
    );
  });
});
