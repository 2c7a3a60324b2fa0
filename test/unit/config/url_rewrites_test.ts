import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rewriteSourceUrl, rewrittenRequest } from "../../../src/config/mod.ts";

describe("rewriteSourceUrl()", () => {
  const cases: [string, Record<string, string>, string | undefined][] = [
    ["https://h/a/b.git", {}, undefined],
    ["https://h/a/b.git", { "other": "x" }, undefined],
    ["https://h/a/b.git", { "h": "mirror" }, "https://mirror/a/b.git"],
    ["https://h/a/b.git", { "h": "http://gitea:3000/" }, "http://gitea:3000/a/b.git"],
    ["https://h/A/b.git", { "h": "file:///srv/git" }, "file:///srv/git/A/b.git"],
    ["https://H/a/b.git", { "h": "/srv/git" }, "/srv/git/a/b.git"],
    ["https://u:p@h:8443/a/b", { "h": "no", "h:8443": "yes" }, "https://yes/a/b"],
    ["git@h:a/b.git", { "h": "https://m" }, "https://m/a/b.git"],
    ["ssh://git@h:22/a/b.git", { "h:22": "ssh://git@m:2222" }, "ssh://git@m:2222/a/b.git"],
    ["https://h/a/b.git", { "h": "git@m" }, "git@m:a/b.git"],
    ["https://h/a/b.git", { "h": "git@m:" }, "git@m:a/b.git"],
    ["https://h/a/b.git", { "https://h/a": "https://m/x" }, "https://m/x/b.git"],
    ["https://H/A/B.git", { "https://h/a/": "https://m/" }, "https://m/B.git"],
    ["https://h/acme-evil/b", { "https://h/acme": "https://m" }, undefined],
    ["https://h/a/b.git", { "https://h/a/b": "https://m/c" }, "https://m/c.git"],
    ["https://h/a/b.git", { "https://h/a/b.git": "https://m/c" }, "https://m/c"],
    [
      "https://h/a/b",
      { "h": "short", "https://h": "prefix", "https://h/a": "longest" },
      "longest/b",
    ],
    ["git@h:a/b.git", { "git@h:": "https://m/" }, "https://m/a/b.git"],
    ["/srv/git/b", { "/srv/git": "https://m/a" }, "https://m/a/b"],
    ["https://evil/h", { "h": "m" }, undefined],
    ["https://h@evil/b", { "h": "m" }, undefined],
  ];
  for (const [url, rewrites, expected] of cases) {
    it(`makes ${expected} of ${url}`, () =>
      assert.equal(rewriteSourceUrl(url, rewrites), expected));
  }
});

describe("rewrittenRequest()", () => {
  it("leaves artifacts as they are", () => {
    const request = { reference: "v1", target: "", deployments: [] };
    const git = { kind: "git", url: "https://h/a", ...request } as const;
    const oci = { kind: "oci", url: "h/a:v1", ...request } as const;
    assert.equal(rewrittenRequest(git, { h: "m" }).url, "https://m/a");
    assert.equal(rewrittenRequest(oci, { h: "m" }).url, "h/a:v1");
  });
});
