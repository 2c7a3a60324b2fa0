import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Revision, SourceKind } from "../../../src/model/mod.ts";
import { type Source, sourceByKind } from "../../../src/source/mod.ts";

const { signal } = new AbortController();

/** A source that notes what it is asked, and answers with nothing. */
function notingSource() {
  const asked: string[] = [];
  const note = (name: string) => () => {
    asked.push(name);
    return Promise.resolve(undefined as never);
  };
  const source: Source = {
    resolve: note("resolve"),
    lastKnown: note("lastKnown"),
    read: note("read"),
    entries: note("entries"),
    list: note("list"),
    materialise: note("materialise"),
    isAncestor: note("isAncestor"),
    close: note("close"),
  };
  return { source, asked };
}

function revision(kind: SourceKind): Revision {
  const source = { kind, url: "https://u:secret@h/a", name: "h/a" };
  return { source, reference: "main", id: "1" };
}

function questions(source: Source, kind: SourceKind): readonly Promise<unknown>[] {
  const of = revision(kind);
  const request = { location: of.source, reference: "main", depth: 0 };
  return [
    source.resolve(request, signal),
    source.lastKnown(request, signal),
    source.read(of, "a", signal, 9),
    source.entries(of, ["a"], signal),
    source.list(of, ".", signal),
    source.materialise(of, signal),
    source.isAncestor(of, of, signal),
  ];
}

describe("sourceByKind()", () => {
  it("asks the source of the kind, and closes all", async () => {
    const [git, oci] = [notingSource(), notingSource()];
    const source = sourceByKind({ git: git.source, oci: oci.source });
    await Promise.all(questions(source, "git"));
    assert.equal(git.asked.length, 7);
    assert.deepEqual(oci.asked, []);
    await Promise.all(questions(source, "oci"));
    assert.deepEqual(oci.asked, git.asked);
    await source.close();
    assert.deepEqual([git.asked.at(-1), oci.asked.at(-1)], ["close", "close"]);
  });

  it("refuses a kind that nothing reads, whatever is asked, without its URL", async () => {
    const { source: git, asked } = notingSource();
    for (const question of questions(sourceByKind({ git }), "oci")) {
      await assert.rejects(question, {
        code: "unsupported",
        message: "h/a is an OCI artifact, and this version deploys from Git repositories only",
      });
    }
    assert.deepEqual(asked, []);
  });
});
