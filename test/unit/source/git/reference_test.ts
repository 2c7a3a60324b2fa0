import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { localName, nearestNames, parseReference } from "../../../../src/source/git/reference.ts";
import { parseRemoteRefs, pickRef } from "../../../../src/source/git/remote_refs.ts";

const id = "0123456789abcdef0123456789abcdef01234567";

describe("parseReference()", () => {
  it("tells commits, HEAD, full and short names apart", () => {
    assert.deepEqual(parseReference(id.toUpperCase()), { kind: "commit", id });
    assert.deepEqual(parseReference("HEAD"), { kind: "head" });
    assert.deepEqual(parseReference("refs/pull/1/head"), {
      kind: "name",
      candidates: ["refs/pull/1/head"],
    });
    assert.deepEqual(parseReference("a/b"), {
      kind: "name",
      candidates: ["refs/heads/a/b", "refs/tags/a/b"],
    });
  });

  for (
    const bad of [
      "",
      "@",
      "-x",
      "--upload-pack=x",
      "/a",
      "a/",
      ".a",
      "a.",
      "a..b",
      "a b",
      "a\tb",
      "a\u0000b",
      "a~1",
      "a^{}",
      "a:b",
      "a?",
      "a*",
      "a[b",
      "a\\b",
      "a@{1}",
      "a//b",
      "a/.b",
      "a.lock",
      "a.lock/b",
      "x".repeat(2000),
    ]
  ) {
    it(`refuses ${JSON.stringify(bad.slice(0, 30))}`, () => {
      assert.throws(() => parseReference(bad), { code: "bad_request" });
    });
  }
});

describe("localName()", () => {
  it("is flat and different for different names", () => {
    const names = ["refs/heads/a", "refs/heads/a/b", "refs/heads/a%2Fb", "refs/tags/a", "HEAD"];
    const local = names.map(localName);
    assert.equal(new Set(local).size, names.length);
    for (const each of local) assert.match(each, /^refs\/stackwright\/[^/]+$/);
  });
  it("keeps what stands right below refs/ apart from HEAD, commits, and names that were long", () => {
    const long = `refs/heads/${"x".repeat(300)}`;
    const [digest = ""] = localName(long).split("/").slice(-1);
    const names = [
      ...[
        "HEAD",
        "refs/HEAD",
        "refs/refs/HEAD",
        id,
        `refs/${id}`,
        `refs/refs/${id}`,
        `refs/%-${id}`,
      ],
      ...[long, `refs/${digest}`, "refs/%-/x", "refs/-/x", "refs/%-HEAD", "refs/-HEAD"],
    ];
    const local = names.map(localName);
    assert.equal(new Set(local).size, names.length);
    for (const each of local) assert.match(each, /^refs\/stackwright\/[^/]+$/);
  });
  it("keeps the names that mirrors have for branches, tags, HEAD and commits", () => {
    const names = ["refs/heads/a/b", "refs/tags/v1", "refs/pull/1/head", "HEAD", id];
    assert.deepEqual(names.map((name) => localName(name).slice("refs/stackwright/".length)), [
      ...["heads%2Fa%2Fb", "tags%2Fv1", "pull%2F1%2Fhead", "HEAD", id],
    ]);
  });
  it("stays short for long names", () => {
    assert.ok(localName(`refs/heads/${"ü".repeat(300)}`).length < 120);
  });
});

describe("nearestNames()", () => {
  const names = ["refs/heads/main", "refs/heads/develop", "refs/tags/v1.0", "refs/tags/v1.1"];
  it("finds slips of the pen, nearest first", () => {
    assert.deepEqual(nearestNames("Mian", names), ["refs/heads/main"]);
    assert.deepEqual(nearestNames("refs/tags/v1.1x", names), ["refs/tags/v1.1", "refs/tags/v1.0"]);
    assert.deepEqual(nearestNames("something-else", names), []);
  });
});

describe("parseRemoteRefs()", () => {
  const refs = parseRemoteRefs(
    `ref: refs/heads/trunk\tHEAD\n${id}\tHEAD\n${"1".repeat(40)}\trefs/tags/v1\n` +
      `${"2".repeat(40)}\trefs/tags/v1^{}\n${"3".repeat(40)}\trefs/heads/v2\n`,
  );
  it("reads ids and the branch of HEAD", () => {
    assert.equal(refs.head, "refs/heads/trunk");
    assert.equal(refs.ids.get("HEAD"), id);
    assert.equal(refs.ids.size, 4);
  });
  it("pickRef() takes the first candidate there is, peeled", () => {
    assert.deepEqual(pickRef(refs, ["refs/heads/v1", "refs/tags/v1"]), {
      name: "refs/tags/v1",
      id: "2".repeat(40),
    });
    assert.equal(pickRef(refs, ["refs/heads/v3"]), undefined);
  });
});
