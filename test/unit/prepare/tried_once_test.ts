import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Revision } from "../../../src/model/mod.ts";
import { triedOnce } from "../../../src/prepare/tried_once.ts";
import { createTurns, systemClock, type Turns } from "../../../src/system/mod.ts";
import { longestStretch } from "../processor_time.ts";

const { signal } = new AbortController();
const source = { kind: "git", url: "https://h/a/b", name: "h/a/b" } as const;

/** Tries filters for the push of a branch, by its short name as some senders have it. */
function tryingAt(branch: string, turns: Turns) {
  const configuration: Revision = { source, reference: `refs/heads/${branch}`, id: "1" };
  return triedOnce({ turns }, { request: { reference: branch }, configuration }, signal);
}

/** A filter that takes as long to try as one may, and does not match. */
const slow = (name: string) => `(?i)${"k?".repeat(440)}${name}[bz]`;

describe("the filters of a run", () => {
  it("are tried once each, however many deployments have them", async () => {
    const real = createTurns(systemClock);
    let pieces = 0;
    const turns: Turns = {
      by: () => turns,
      take: (piece, within) => (pieces++, real.take(piece, within)),
    };
    const passes = tryingAt("main", turns);
    const filters = [...Array(500).fill("^main$"), ...Array(500).fill("^other$")];
    const found = await Promise.all(filters.map(passes));
    assert.deepEqual(found, filters.map((each) => each === "^main$"));
    assert.equal(pieces, 2);
  });

  it("match the full name and the short one, and let everything pass where there is none", async () => {
    const passes = tryingAt("main", createTurns(systemClock));
    const filters = ["", "^refs/heads/main$", "^main$", "^refs/tags/", "("];
    assert.deepEqual(await Promise.all(filters.map(passes)), [true, true, true, false, false]);
  });

  it("let others work while many are tried that take long", async () => {
    const passes = tryingAt("a".repeat(1000), createTurns(systemClock));
    const filters = Array.from({ length: 20 }, (_, at) => slow(`${at}`));
    const longest = await longestStretch(() => Promise.all(filters.map(passes)));
    assert.ok(longest < 500, `${longest} ms`);
  });
});
