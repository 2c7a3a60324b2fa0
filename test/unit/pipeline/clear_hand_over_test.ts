import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LABELS, MANAGER } from "../../../src/model/mod.ts";
import { namedBy } from "../../../src/pipeline/owner/clear_hand_over.ts";
import { MOST_FORMER } from "../../../src/record/former_sources.ts";

const thing = (deployed: string | undefined, configuration?: string) => ({
  labels: {
    [LABELS.manager]: MANAGER,
    ...(deployed === undefined ? {} : { [LABELS.sourceName]: deployed }),
    ...(configuration === undefined ? {} : { [LABELS.sourceConfiguration]: configuration }),
  },
});
const named = (...things: Parameters<typeof namedBy>[0][]) => {
  const { configurations, repositories } = namedBy(things.flatMap((each) => [...each]));
  return [[...configurations], [...repositories]];
};

describe("namedBy()", () => {
  it("tells configurations, and the repositories of what names none, doco-cd's too", () => {
    const peers = { labels: { "cd.doco.source.url": "https://me:word@host/them/app.git" } };
    const all = [thing("a", "c"), thing("b"), thing("b", "c"), thing(undefined), peers];
    assert.deepEqual(named([...all, { labels: { [LABELS.sourceName]: "nobodys" } }]), [
      ["c"],
      ["b", "", "https://host/them/app.git"],
    ]);
  });

  it("is of the first ones, as long as a source's name may be, however many an engine makes up", () => {
    const first = Array.from({ length: MOST_FORMER }, (_, at) => `${at}`);
    const more = Array.from({ length: 1000 }, (_, at) => `more ${at}`);
    const long = "x".repeat(5000);
    const all = [long, ...first, ...more];
    assert.deepEqual(
      named(all.map((each) => thing(each)), all.map((each) => thing("a", each))),
      [first, first],
    );
  });
});
