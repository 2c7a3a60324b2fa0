import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSyncWindows } from "../../../src/config/mod.ts";
import { createSyncWindows, matchesGlob } from "../../../src/plan/mod.ts";

function windows(...list: Record<string, unknown>[]) {
  const options = { file: "x", timeZone: "Europe/Berlin" };
  return createSyncWindows(parseSyncWindows(JSON.stringify(list), options));
}

const SUBJECT = {
  repositories: ["github.com/acme/shop"],
  deployment: "prod-shop",
  context: "default",
  origin: "automatic",
} as const;
/** A Friday, 20:00 in Berlin. */
const FRIDAY = new Date("2026-03-13T19:00:00Z");
const FREEZE = { name: "freeze", kind: "deny", schedule: "0 18 * * 5", duration: "62h" };
const NIGHT = { name: "night", kind: "allow", schedule: "0 2 * * *", duration: "1h" };

describe("sync windows", () => {
  it("a deny that is active beats an allow that is, and both are named, denies first", () => {
    const all = { name: "all", kind: "allow", schedule: "* * * * *", duration: "1h" };
    const found = windows(all, FREEZE).decide(SUBJECT, FRIDAY);
    assert.deepEqual([found.allowed, found.windows], [false, ["freeze"]]);
    assert.equal(found.nextOpen?.toISOString(), "2026-03-16T07:00:00.000Z");
    const both = windows(NIGHT, FREEZE).decide(SUBJECT, FRIDAY);
    assert.deepEqual(both.windows, ["freeze", "night"]);
    assert.equal(both.nextOpen?.toISOString(), "2026-03-17T01:00:00.000Z");
  });

  it("manual work passes where every window that blocks it lets it", () => {
    const manual = { ...SUBJECT, origin: "manual" } as const;
    const open = { ...FREEZE, manual_sync: true };
    const passes = { allowed: true, manualOverride: true, windows: ["freeze"] };
    assert.deepEqual(windows(open).decide(manual, FRIDAY), passes);
    assert.equal(windows(open).decide(SUBJECT, FRIDAY).allowed, false);
    assert.equal(windows(open, NIGHT).decide(manual, FRIDAY).allowed, false);
  });

  it("are about what matches all of their selectors, and none of one another's", () => {
    const of = (selectors: Record<string, unknown>, subject = {}) =>
      windows({ ...FREEZE, ...selectors }).decide({ ...SUBJECT, ...subject }, FRIDAY).allowed;
    assert.equal(of({ deployments: ["prod-*"], repositories: ["GITHUB.com/acme/*"] }), false);
    assert.equal(of({ deployments: ["prod-*"], repositories: ["*/other"] }), true);
    assert.equal(of({ deployments: ["test-*", "prod-?hop"] }), false);
    assert.equal(of({ contexts: ["default"] }), false);
    assert.equal(of({ contexts: ["edge"] }), true);
    assert.equal(of({ deployments: ["prod-*"] }, { deployment: "" }), true);
    const second = { repositories: ["github.com/acme/apps", "github.com/acme/config"] };
    assert.equal(of({ repositories: ["*/config"] }, second), false);
  });

  it("of one repository are not lifted by an open one of another that is deployed", () => {
    const of = (name: string, schedule: string) => ({
      name,
      kind: "allow",
      schedule,
      duration: "1h",
      repositories: [`*/${name}`],
    });
    const [shop, apps] = [of("shop", "0 2 * * *"), of("apps", "30 * * * *")];
    const both = { ...SUBJECT, repositories: ["github.com/acme/apps", "github.com/acme/shop"] };
    for (const set of [windows(shop, apps), windows(apps, shop)]) {
      const found = set.decide(both, FRIDAY);
      assert.deepEqual([found.allowed, found.windows], [false, ["shop"]]);
      assert.equal(found.nextOpen?.toISOString(), "2026-03-14T01:00:00.000Z");
      assert.equal(set.decide(both, new Date("2026-03-14T01:10:00Z")).allowed, true);
      const only = { ...SUBJECT, repositories: ["github.com/acme/apps"] };
      assert.equal(set.decide(only, FRIDAY).allowed, true);
    }
    const denied = windows(shop, apps, FREEZE).decide(both, FRIDAY);
    assert.deepEqual(denied.windows, ["freeze", "shop"]);
  });

  it("are active from their start up to their end, which is a time later, not a reading", () => {
    const spring = { kind: "deny", schedule: "0 1 29 3 *", duration: "3h" };
    const at = (time: string) => windows(spring).states(new Date(time))[0];
    assert.equal(at("2026-03-28T23:59:59.999Z")?.active, false);
    assert.equal(at("2026-03-29T00:00:00Z")?.active, true);
    assert.equal(at("2026-03-29T00:00:00Z")?.until?.toISOString(), "2026-03-29T03:00:00.000Z");
    assert.equal(at("2026-03-29T02:59:59.999Z")?.active, true);
    assert.equal(at("2026-03-29T03:00:00Z")?.active, false);
  });

  it("say of overlapping times the latest, and of what never opens nothing", () => {
    const always = { kind: "deny", schedule: "0 * * * *", duration: "90m" };
    const [state] = windows(always).states(FRIDAY);
    assert.equal(state?.since?.toISOString(), "2026-03-13T19:00:00.000Z");
    assert.equal(state?.nextStart?.toISOString(), "2026-03-13T20:00:00.000Z");
    const decision = { allowed: false, manualOverride: false, windows: ["deny-1"] };
    assert.deepEqual(windows(always).decide(SUBJECT, FRIDAY), decision);
  });

  const globs: [glob: string, text: string, fits: boolean][] = [
    ["*", "", true],
    ["", "a", false],
    ["a*b*c", "aXbYbZc", true],
    ["a*b", "aXbY", false],
    ["*.com/*/shop", "github.com/a/b/shop", true],
    ["pr[od]?", "prod", false],
    ["a.c", "abc", false],
    [`${"*a".repeat(40)}b`, "a".repeat(2000), false],
  ];
  for (const [glob, text, fits] of globs) {
    it(`${glob.slice(0, 20)} ${fits ? "is" : "is not"} about ${text.slice(0, 20)}`, () => {
      assert.equal(matchesGlob(glob, text), fits);
    });
  }
});
