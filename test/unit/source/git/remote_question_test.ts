import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MirrorParts, MirrorRequest } from "../../../../src/source/git/mirror_parts.ts";
import { missingReference } from "../../../../src/source/git/remote_question.ts";

describe("missingReference()", () => {
  it("does not say for sure that a remote is empty: pages for people look so to git", async () => {
    const asking = () => Promise.resolve({ ids: new Map(), head: undefined });
    const parts = { name: "h/o/r", git: { asking } } as unknown as MirrorParts;
    const request = { url: {}, reference: "main" } as unknown as MirrorRequest;
    const { message } = await missingReference(parts, request, new AbortController().signal);
    assert.match(message, /it is empty, or what answers is no Git server.*check its address$/);
  });

  it("says that a repository on this machine has no commit yet", async () => {
    const asking = () => Promise.resolve({ ids: new Map(), head: undefined });
    const parts = { name: "local/tmp/shop", git: { asking } } as unknown as MirrorParts;
    const request = { url: { scheme: "file" }, reference: "HEAD" } as unknown as MirrorRequest;
    const { message } = await missingReference(parts, request, new AbortController().signal);
    assert.match(
      message,
      /has no reference "HEAD"; it is empty: make a commit with git commit, or push a branch$/,
    );
  });
});
