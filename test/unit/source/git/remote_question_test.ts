import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MirrorParts, MirrorRequest } from "../../../../src/source/git/mirror_parts.ts";
import { createRedactor, systemClock } from "../../../../src/system/mod.ts";
import { Git, type GitParts } from "../../../../src/source/git/git.ts";
import type { GitResult } from "../../../../src/source/git/git_result.ts";
import { missingReference } from "../../../../src/source/git/remote_question.ts";
import { longestStretch } from "../../processor_time.ts";

const { signal } = new AbortController();

/** Asks for references in a round, of a remote that lists these branches; counts its lists. */
function asking(branches: readonly string[], url = {}) {
  const lines = branches.map((each) => `${"1".repeat(40)}\trefs/heads/${each}\n`).join("");
  const given = { clock: systemClock, redactor: createRedactor(), options: { http: undefined } };
  const git = new Git(given as unknown as GitParts);
  let lists = 0;
  git.remote = () => {
    lists++;
    const stdout = new TextEncoder().encode(lines);
    return Promise.resolve({ stdout, stderr: "", failure: undefined } as unknown as GitResult);
  };
  const parts = { name: "h/o/r", git } as unknown as MirrorParts;
  const round = { references: [], note: () => {} };
  const ask = async (reference: string) => {
    const request = { url: { remote: "https://h/o/r", ...url }, reference, depth: 0, round };
    return (await missingReference(parts, request as unknown as MirrorRequest, signal)).message;
  };
  return { ask, lists: () => lists };
}

describe("missingReference()", () => {
  it("does not say for sure that a remote is empty: pages for people look so to git", async () => {
    const message = await asking([]).ask("main");
    assert.match(message, /it is empty, or what answers is no Git server.*check its address$/);
  });

  it("says that a repository on this machine has no commit yet", async () => {
    assert.match(
      await asking([], { scheme: "file" }).ask("HEAD"),
      /has no reference "HEAD"; it is empty: make a commit with git commit, or push a branch$/,
    );
  });

  it("names some of many branches, and does not look at more than anybody reads", async () => {
    const named = (count: number) => Array.from({ length: count }, (_, at) => `b${10_000 + at}`);
    const few = await asking(named(10_000)).ask("release");
    assert.match(few, /; it has refs\/heads\/b10000, .*, refs\/heads\/b10004 and 9995 more$/);
    assert.match(await asking(named(9_000)).ask("b15000x"), /did you mean refs\/heads\/b15000,/);
    assert.match(await asking(named(10_001)).ask("b10001x"), /; it has too many to look for one/);
  });

  it("lets others work when hundreds miss one reference of a remote with very many", async () => {
    const branches = Array.from({ length: 139_000 }, (_, at) => `${1_000_000 + at}`);
    const { ask, lists } = asking(branches);
    const longest = await longestStretch(async () => {
      const all = await Promise.all(Array.from({ length: 500 }, () => ask("gone")));
      assert.equal(new Set(all).size, 1);
    });
    assert.equal(lists(), 1);
    assert.ok(longest < 1000, `${longest} ms`);
  });

  it("lets others work when hundreds miss a reference each, with names as long as they may be", async () => {
    const name = (letter: string, at: number) => `${at}`.padStart(100, letter);
    const branches = Array.from({ length: 10_000 }, (_, at) => name("a", at));
    const { ask, lists } = asking(branches);
    const wanted = Array.from({ length: 100 }, (_, at) => name("b", at));
    const longest = await longestStretch(() => Promise.all(wanted.map(ask)));
    assert.equal(lists(), 1);
    assert.ok(longest < 500, `${longest} ms`);
  });
});
