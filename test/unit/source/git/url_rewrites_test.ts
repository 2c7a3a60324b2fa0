import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reach, rewriteHosts, rewriteUrl } from "../../../../src/source/git/url_rewrites.ts";

const RULES = {
  "github.com": "https://mirror.lan",
  "git.corp.example:8443": "ssh://git@inside.lan:2222/all",
  "https://github.com/Big/": "https://big.lan/x/",
  "https://github.com/Big/Only.git": "file:///srv/only.git",
  "https://gitlab.com/group": "git@own.lan:group2",
  "codeberg.org/o": "https://forge.lan/o/",
  "git@short.example:team": "https://t:pw@long.example/team",
  "plain.example": "other.example",
  "ported.example": "other.example:81",
};

describe("rewriteUrl()", () => {
  for (
    const [why, url, expected] of [
      ["a host", "https://github.com/o/r.git", "https://mirror.lan/o/r.git"],
      ["a host, letters of either case", "https://GitHub.COM/O/r", "https://mirror.lan/O/r"],
      ["a host over SSH", "ssh://git@github.com/o/r", "https://mirror.lan/o/r"],
      ["a host in the short form", "git@github.com:o/r.git", "https://mirror.lan/o/r.git"],
      ["a host, credentials dropped", "https://u:p@github.com/o/r", "https://mirror.lan/o/r"],
      ["another port is another host", "https://github.com:444/o/r", undefined],
      ["no subdomain", "https://x.github.com/o/r", undefined],
      ["no suffix", "https://evilgithub.com/o/r", undefined],
      ["not as a user", "https://github.com@evil.example/o/r", undefined],
      ["a port", "https://git.corp.example:8443/o/r", "ssh://git@inside.lan:2222/all/o/r"],
      ["not without the port", "https://git.corp.example/o/r", undefined],
      ["the longest prefix", "https://github.com/Big/app.git", "https://big.lan/x/app.git"],
      ["paths by their case", "https://github.com/big/app", "https://mirror.lan/big/app"],
      ["prefixes by their scheme", "ssh://git@github.com/Big/app", "https://mirror.lan/Big/app"],
      ["a whole URL", "https://github.com/Big/Only.git", "file:///srv/only.git"],
      ["a prefix without a slash", "https://gitlab.com/group/a/b", "git@own.lan:group2/a/b"],
      ["no half of a name", "https://gitlab.com/groupies/a", undefined],
      ["a prefix without a scheme", "git@codeberg.org:o/r", "https://forge.lan/o/r"],
      ["the short form as a key", "git@short.example:team/r", "https://t:pw@long.example/team/r"],
      ["the short form by its user", "me@short.example:team/r", undefined],
      ["a host by a host", "https://plain.example/o/r", "https://other.example/o/r"],
      ["a host by a host over SSH", "git@plain.example:o/r", "git@other.example:o/r"],
      ["a host by a port over SSH", "git@ported.example:o/r", "ssh://git@other.example:81/o/r"],
      [
        "a host by a host, without the password",
        "https://u:p@plain.example/o/r",
        "https://other.example/o/r",
      ],
      ["nothing else", "https://codeberg.org/x/r", undefined],
      ["no path", "/srv/github.com/r", undefined],
    ] as const
  ) {
    it(`rewriteUrl() replaces ${why}: ${url}`, () => {
      assert.equal(rewriteUrl(url, RULES), expected);
    });
  }

  it("rewriteUrl() changes nothing without rules", () => {
    assert.equal(rewriteUrl("https://github.com/o/r", {}), undefined);
  });
});

/** Each row has a rule, and spellings of the repository that it is for. */
const SPELLINGS = [
  ["github.com", "https://mirror.lan", "https://mirror.lan/acme/infra", [
    "https://github.com:443/acme/infra",
    "https://github.com:0443/acme/infra",
    "https://github.com:/acme/infra",
    "https://github.com//acme//infra/",
    "https://github.com/%61cme/infra",
    "ssh://github.com:22/acme/infra",
    "github.com:acme/infra",
    "git@github.com:/acme//infra",
  ]],
  ["https://github.com/acme", "git@own.lan:", "git@own.lan:infra", [
    "https://github.com//acme//infra",
    "https://github.com:443/%61cme/%69nfra",
  ]],
  ["https://github.com:443/acme/", "https://own.lan/a", "https://own.lan/a/infra", [
    "https://github.com/acme/infra",
    "https://github.com:0443/acme/infra",
  ]],
  ["github.com:443", "https://own.lan", "https://own.lan/acme/infra", [
    "https://github.com/acme/infra",
    "https://github.com:443/acme/infra",
  ]],
  ["github.com:443/acme", "https://own.lan/a", "https://own.lan/a/infra", [
    "https://github.com/acme/infra",
  ]],
  ["https://github.com/acme/infra.git", "file:///srv/infra", "file:///srv/infra", [
    "https://github.com/acme/infra",
    "https://github.com/acme/infra.GIT",
    "https://github.com/acme/infra.git/",
  ]],
  ["git@gl.example:a", "https://own.lan/x", "https://own.lan/x/b", [
    "ssh://git@gl.example:22/a/b",
    "ssh://%67it@gl.example/a/b",
    "ssh://gl.example/a/b",
    "gl.example:/a/b",
  ]],
  ["ssh://[::1]/a", "https://own.lan/x", "https://own.lan/x/b", ["git@[::1]:a/b", "[::1]:a/b"]],
  ["[fe80::1]", "own.lan", "https://own.lan/a/b", ["https://[FE80::1]/a/b"]],
  ["plain.example", "/srv/git", "/srv/git/o/a b", ["https://plain.example/o/a%20b"]],
  ["plain.example", "file:///srv/git", "file:///srv/git/o/%2561", [
    "https://plain.example/o/%2561",
    "git@plain.example:o/%61",
  ]],
] as const;

describe("rewriteUrl() with spellings that give one name", () => {
  for (const [key, replacement, expected, urls] of SPELLINGS) {
    for (const url of urls) {
      it(`rewriteUrl() applies ${key} to ${url}`, () => {
        assert.equal(rewriteUrl(url, { [key]: replacement }), expected);
      });
    }
  }

  it("rewriteUrl() does not throw at broken escapes and lone surrogates", () => {
    for (const path of ["%zz", "\ud800", "%ff"]) {
      assert.equal(typeof rewriteUrl(`https://github.com/o/${path}`, RULES), "string");
    }
  });

  it("reach() refuses a slash that a server may take for a part of a name", () => {
    for (const url of ["https://a.example/acme%2Finfra", "ssh://git@a.example/acme/in%2ffra"]) {
      assert.throws(() => reach(url, {}), /escaped slash/);
    }
  });
});

describe("reach()", () => {
  it("reach() reads what the rules lead to, and what no rule is for", () => {
    assert.equal(reach("https://github.com/o/r", RULES).host, "mirror.lan");
    assert.equal(reach("https://a.example/o/r", RULES).host, "a.example");
    assert.equal(reach("https://github.com/Big/Only.git", RULES).scheme, "file");
  });

  it("reach() does not let a repository climb out of what a rule leads to", () => {
    const rules = { "github.com": "file:///srv/mirrors/" };
    assert.equal(reach("https://github.com/o/r.git", rules).path, "/srv/mirrors/o/r.git");
    for (
      const url of [
        "https://github.com/../../etc/r",
        "git@github.com:../secret",
        "https://github.com/%2e%2e/x",
      ]
    ) {
      assert.throws(() => reach(url, rules), { code: "bad_request" });
    }
  });
});

describe("rewriteHosts()", () => {
  it("rewriteHosts() finds the hosts that rules lead to, each once", () => {
    assert.deepEqual(
      rewriteHosts({ a: "https://X.lan/y", b: "git@x.lan:z", c: "file:///s", d: "y.lan:8" }),
      [
        "x.lan",
        "y.lan:8",
      ],
    );
  });
});
