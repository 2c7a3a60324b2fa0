import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InstanceKey, Ledger } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 2, 10, 12, minute));
const PLACE = { repository: "git.test/me/shop", reference: "main", target: "" };
const FAILED = { ...PLACE, message: "no s3cr3t", isPoll: true };

function sources() {
  return new Ledger(":memory:", {
    key: new InstanceKey(new Uint8Array(32)),
    clock: createFakeClock(),
    ids: { next: () => "" },
    redact: (text, about) =>
      "source" in about && about.source === PLACE.repository
        ? text.replaceAll("s3cr3t", "***")
        : text,
  }).sources;
}

describe("SourceFailures", () => {
  it("keeps since when a source cannot be read, and the last reason, until it is read", () => {
    const failures = sources();
    failures.fail("a", { ...FAILED, at: at(1), retryAt: at(4) });
    failures.fail("a", { ...FAILED, message: "still no", at: at(4), retryAt: at(7) });
    const times = { since: at(1), lastAt: at(4), retryAt: at(7) };
    assert.deepEqual(failures.all(at(5)), [{ ...PLACE, ...times, message: "still no" }]);
    failures.clear("other");
    assert.equal(failures.all(at(5)).length, 1);
    failures.clear("a");
    assert.deepEqual(failures.all(at(5)), []);
  });

  it("masks the source's secrets", () => {
    const failures = sources();
    failures.fail("a", { ...FAILED, at: at(1), retryAt: undefined });
    assert.deepEqual(failures.all(at(1)).map(({ message }) => message), ["no ***"]);
  });

  it("keeps the time of the next poll when something else asked in between", () => {
    const failures = sources();
    failures.fail("a", { ...FAILED, at: at(1), retryAt: at(11) });
    failures.fail("a", { ...FAILED, at: at(5), retryAt: at(15), isPoll: false });
    assert.deepEqual(failures.all(at(5))[0]?.retryAt, at(11));
    failures.fail("a", { ...FAILED, at: at(10), retryAt: at(20) });
    assert.deepEqual(failures.all(at(10))[0]?.retryAt, at(20));
  });

  it("forgets what nobody tried for a week, and what is polled no longer", () => {
    const failures = sources();
    const far = new Date(Date.UTC(2026, 4));
    failures.fail("hook", { ...FAILED, at: at(1), retryAt: undefined });
    failures.fail("monthly", { ...FAILED, at: at(1), retryAt: far });
    const later = new Date(Date.UTC(2026, 2, 18));
    assert.deepEqual(failures.all(later).map(({ retryAt }) => retryAt), [far]);
    failures.keepPolled(["monthly"]);
    assert.equal(failures.all(at(2)).length, 2);
    failures.keepPolled([]);
    assert.deepEqual(failures.all(at(2)).map(({ retryAt }) => retryAt), [undefined]);
  });

  it("forgets the oldest of the repository with the most, when there are too many", () => {
    const failures = sources();
    failures.fail("a", { ...FAILED, at: at(0), retryAt: undefined });
    for (let branch = 0; branch < 600; branch++) {
      const many = { repository: "git.test/evil/names", at: at(branch), retryAt: undefined };
      failures.fail(`b${branch}`, { ...FAILED, ...many });
    }
    const all = failures.all(at(600));
    assert.equal(all.length, 500);
    assert.ok(all.some(({ repository }) => repository === PLACE.repository));
  });
});
