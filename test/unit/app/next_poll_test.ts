import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextPoll, notePlanned } from "../../../src/app/next_poll.ts";
import type { PollEntry } from "../../../src/config/mod.ts";
import type { SourcePlace, SourceRequest } from "../../../src/model/mod.ts";

const REQUEST: SourceRequest = {
  kind: "git",
  url: "https://git.test/me/shop.git",
  reference: "main",
  target: "",
  deployments: [],
};
const now = new Date(Date.UTC(2026, 2, 10, 12));
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

const entryOf = (each: Partial<PollEntry>): PollEntry => ({
  request: REQUEST,
  intervalSeconds: 0,
  runOnce: false,
  watch: false,
  ...each,
});

function createService() {
  const texts = new Map<string, string>();
  return {
    get: (name: string) => texts.get(name),
    set: (name: string, text: string) => void texts.set(name, text),
  };
}

const PLACE: SourcePlace = {
  repository: "git.test/me/shop",
  reference: "refs/heads/main",
  target: "",
};

function next(
  entries: readonly Partial<PollEntry>[],
  { place = PLACE, held, service = createService() }: {
    readonly place?: SourcePlace;
    readonly held?: Date;
    readonly service?: ReturnType<typeof createService>;
  } = {},
) {
  const polls = entries.map(entryOf);
  const heldUntil = () => held;
  return nextPoll({ polls, timeZone: "UTC" }, place, { now, heldUntil, service });
}

describe("nextPoll()", () => {
  it("is the earliest of the entries for the source", () => {
    const entries = [{ intervalSeconds: 600 }, { intervalSeconds: 60 }, { schedule: "5 * * * *" }];
    assert.deepEqual(next(entries), later(60));
    assert.deepEqual(next(entries.slice(2)), later(300));
    const signed = { ...REQUEST, url: "https://user:word@git.test/me/shop" };
    assert.deepEqual(next([{ request: signed, intervalSeconds: 60 }]), later(60));
  });

  it("is when an interval ends that began before", () => {
    const service = createService();
    const plan = (intervalSeconds: number, seconds: number) =>
      notePlanned(service, entryOf({ intervalSeconds }), later(seconds));
    const seen = () => next([{ intervalSeconds: 3600 }], { service });
    for (const [planned, told] of [[60, 60], [-5, 3600], [0, 3600], [7200, 3600]] as const) {
      plan(3600, planned);
      plan(30, 20);
      assert.deepEqual(seen(), later(told));
    }
  });

  it("waits for a host that wants no polls", () => {
    assert.deepEqual(next([{ intervalSeconds: 60 }], { held: later(90) }), later(90));
  });

  it("is not known where no time polls it", () => {
    const other = { request: { ...REQUEST, reference: "next" }, intervalSeconds: 60 };
    assert.equal(next([{}, { intervalSeconds: 60, runOnce: true }, other]), undefined);
  });

  it("is that of the place by the names that the repository and the reference have there", () => {
    const polledAs = (more: Partial<SourceRequest>) =>
      next([{ request: { ...REQUEST, ...more }, intervalSeconds: 60 }]);
    for (const reference of ["main", "refs/heads/main", "HEAD"]) {
      assert.deepEqual(polledAs({ reference }), later(60), reference);
    }
    const moved = { url: "/srv/mirror", identity: PLACE.repository };
    assert.deepEqual(polledAs(moved), later(60));
    for (const other of [{ reference: "next" }, { target: "prod" }, { url: "/srv/mirror" }]) {
      assert.equal(polledAs(other), undefined, JSON.stringify(other));
    }
  });

  it("is that of the branch where that has a poll beside HEAD", () => {
    const head = { ...REQUEST, reference: "HEAD" };
    const polls = [{ request: head, intervalSeconds: 60 }, { intervalSeconds: 600 }];
    assert.deepEqual(next(polls), later(600));
    assert.deepEqual(next(polls, { place: { ...PLACE, reference: "HEAD" } }), later(60));
  });
});
