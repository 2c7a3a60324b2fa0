import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findUnpolled, nextPoll, noteAsked, notePlanned } from "../../../src/app/next_poll.ts";
import type { PollEntry } from "../../../src/config/mod.ts";
import { type SourcePlace, type SourceRequest, stackKey } from "../../../src/model/mod.ts";
import { parseInlineDeployments } from "../../fakes/inline_deployments.ts";

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

describe("a stack whose source nothing polls any more", () => {
  const key = stackKey("", "shop");
  const inline = (name: string) => ({
    request: { ...REQUEST, deployments: parseInlineDeployments([{ name }], "test") },
  });
  const ofReference = (reference: string) => ({ request: { ...REQUEST, reference } });
  interface Asked {
    readonly polls?: readonly Partial<PollEntry>[];
    readonly webhooks?: boolean;
    /** Target of the configuration that named it last; none for deployments of a poll. */
    readonly named?: string | undefined;
    readonly last?: string;
    readonly reference?: string;
  }
  const found = (
    { polls = [], webhooks = false, last = "poll", reference = "refs/heads/main", ...of }: Asked,
  ) => {
    const service = createService();
    const webhookSecret = webhooks ? "secret" : undefined;
    noteAsked(service, { polls: polls.map(entryOf), webhookSecret });
    const target = "named" in of ? of.named : "";
    const place = { repository: "git.test/me/shop", reference, target: "" };
    const owner = { source: place.repository, reference, target: target ?? "" };
    const stack = { key, owner, repository: place.repository, directory: "." };
    return findUnpolled(
      {
        service,
        discovered: { get: () => target === undefined ? undefined : stack },
        decisions: { lastAsked: () => last },
      } as unknown as Parameters<typeof findUnpolled>[0],
    )(key, place);
  };
  const rows: readonly [string, Asked, boolean][] = [
    ["is polled", { polls: [{}] }, false],
    ["is polled by another name of the reference", { polls: [ofReference("HEAD")] }, false],
    ["is a tag that is polled", { polls: [ofReference("v1")], reference: "refs/tags/v1" }, false],
    ["is not polled", {}, true],
    ["is polled at another reference", { polls: [ofReference("dev")] }, true],
    ["is asked by webhooks", { webhooks: true }, false],
    ["a person had asked last", { last: "a person" }, false],
    ["a poll's deployments name", { named: undefined, polls: [inline("shop")] }, false],
    ["a poll's deployments name no more", { named: undefined, polls: [inline("x"), {}] }, true],
    ["no webhook reaches", { named: undefined, webhooks: true }, true],
    ["a poll's deployments alone would name", { polls: [inline("shop")] }, true],
    ["was discovered by a poll's deployments", { named: "#polls", webhooks: true }, true],
  ];
  for (const [name, asked, isFound] of rows) {
    it(`is ${isFound ? "" : "not "}found where it ${name}`, () =>
      assert.equal(found(asked), isFound));
  }

  it("is not found before the service has recorded what it polls", () => {
    const parts = { service: createService() } as unknown as Parameters<typeof findUnpolled>[0];
    const place = { repository: "", reference: "", target: "" };
    assert.equal(findUnpolled(parts)(key, place), false);
  });
});
