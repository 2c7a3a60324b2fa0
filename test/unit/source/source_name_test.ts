import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRepositoryUrl } from "../../../src/source/git/repository_url.ts";
import {
  sameHostAndPath,
  sameRepository,
  sourceLocation,
  surelySameRepository,
} from "../../../src/source/source_name.ts";

const name = (url: string) => sourceLocation("git", url).name;

describe("sourceLocation()", () => {
  for (
    const [url, expected] of [
      ["https://GitHub.com/Owner/Repo.git", "github.com/Owner/Repo"],
      ["https://user:tok@github.com/o/r", "github.com/o/r"],
      ["https://github.com:443/o/r/", "github.com/o/r"],
      ["http://host:8080/o/r.git/", "host_8080/o/r"],
      ["ssh://git@host:2222/g/s/r.git", "host_2222/g/s/r"],
      ["ssh://git@host:22/o/r", "host/o/r"],
      ["git@Host:o/r.git", "host/o/r"],
      ["host:o/r", "host/o/r"],
      // No host is the port of another one.
      ["http://host_8080/o/r", "host_8080_0/o/r"],
      ["ssh://git@host_8080:22/o/r", "host_8080_0/o/r"],
      ["http://host_8080:90/o/r", "host_8080_90/o/r"],
      ["gitea@host:o/r.git", "host/o/r"],
      ["ssh://forgejo@host:2222/o/r", "host_2222/o/r"],
      // A home of its own: over HTTP, or by another account, that is another repository.
      ["mallory@Host:infra.git", "mallory@host/infra"],
      ["ssh://APKAEXAMPLE:pw@h:2222/v1/repos/r", "APKAEXAMPLE@h_2222/v1/repos/r"],
      ["https://dev.azure.com/org/My%20Project/_git/r", "dev.azure.com/org/My Project/_git/r"],
      ["https://host//o///r", "host/o/r"],
      ["https://host/org/.github", "host/org/.github"],
      ["/srv/git/r", "local/srv/git/r"],
      ["/srv/git/r.git", "local/srv/git/r.git"],
      ["file:///srv/git/r.git/", "local/srv/git/r.git"],
      ["file:///srv/a%20b", "local/srv/a b"],
      ["  https://h/o/r  ", "h/o/r"],
    ] as const
  ) {
    it(`names ${JSON.stringify(url)} ${expected}`, () => assert.equal(name(url), expected));
  }

  it("keeps the URL as it was written", () => {
    const url = "https://user:tok@h/o/r.git";
    assert.deepEqual(sourceLocation("git", url), { kind: "git", url, name: "h/o/r" });
  });

  it("drops tag and digest of artifacts", () => {
    const oci = (url: string) => sourceLocation("oci", url).name;
    assert.equal(oci("oci://GHCR.io/o/r:v1"), "ghcr.io/o/r");
    assert.equal(oci(`registry:5000/o/r@sha256:${"0".repeat(64)}`), "registry_5000/o/r");
  });

  for (
    const url of [
      "",
      "-u",
      "--upload-pack=x",
      "ext::sh -c id",
      "git://host/r",
      "ftp://host/r",
      "https://host",
      "https://host/",
      "https://host/.git",
      "https://host/o/../r",
      "https://host/o/%2e%2e/r",
      "https://host/o/r.lock",
      "https://host/o.LOCK/r",
      "https://host/o/r\nx",
      "https://host/o/%0ar",
      "https://user:p%00q@host/o/r",
      "https://user:p%0aurl=q@host/o/r",
      "https://host/o/%zz",
      "https://host/o/r?x=1",
      "https://host/o/r#x",
      "https://-host/o/r",
      "https://ho st/o/r",
      "https://host:0/o/r",
      "https://host:99999/o/r",
      "https://local/srv/r",
      "git@local:srv/r",
      "ssh://-oProxyCommand=x/r",
      "-oProxyCommand=x@host:r",
      // Git would go to the host "evil" for each of these.
      "ssh://[evil]@host/o/r",
      "ssh://evil%2F@host/o/r",
      "ssh://me%40%5Bevil%3A2222%5D@host/o/r",
      "ssh://git@host/o/@[evil]/r",
      "ssh://git@host/o%40%5Bevil]/r",
      "git@host:o/@[evil]:o/r",
      "[evil]@host:o/r",
      "[git@host:2222]:o/r",
      "git@host:x~o/r",
      "git@host:-x/r",
      "file://host/r",
      "file://r",
      "relative/path",
      "/",
      "/srv/../etc",
      `https://host/${"x".repeat(300)}`,
    ]
  ) {
    it(`refuses ${JSON.stringify(url.slice(0, 60))}`, () => {
      assert.throws(() => name(url), { code: "bad_request" });
    });
  }

  it("does not show credentials of a URL it refuses", () => {
    for (const url of ["https://user:s3cret@host/a/../b", "x://user:s3cret@h/r", "us:s3cret@h"]) {
      assert.throws(() => name(url), (error: Error) => !error.message.includes("s3cret"));
    }
  });
});

describe("sameHostAndPath()", () => {
  const https = "https://host:8443/infra.git";
  it("sees two ways to one repository of a forge, or of one account", () => {
    assert.ok(sameHostAndPath(https, "ssh://git@host:2222/infra"));
    assert.ok(sameHostAndPath(https, "gitea@host:infra"));
    assert.ok(sameHostAndPath("ann@host:infra", "ssh://ann@host/infra.git"));
  });
  it("tells accounts, hosts and paths apart", () => {
    for (const other of ["mallory@host:infra", "git@other:infra", "git@host:infra2", "/infra"]) {
      assert.ok(!sameHostAndPath(https, other), other);
    }
    assert.ok(!sameHostAndPath("ann@host:infra", "mallory@host:infra"));
  });
});

describe("parseRepositoryUrl()", () => {
  it("gives git the same place without secrets", () => {
    const remote = (url: string) => parseRepositoryUrl(url).remote;
    assert.equal(remote("https://u:p%40ss@Host:8443/o/r%20x.git"), "https://host:8443/o/r%20x.git");
    assert.equal(remote("ssh://me:pw@host/o/r"), "ssh://me@host/o/r");
    assert.equal(remote("ssh://host:2222/o/r"), "ssh://git@host:2222/o/r");
    assert.equal(remote("host:o/r.git"), "git@host:o/r.git");
    assert.equal(remote("file:///srv/r.git/"), "/srv/r.git");
  });

  it("decodes user information", () => {
    const { user, password } = parseRepositoryUrl("https://a%40b:p%3Aw:x@host/o/r");
    assert.deepEqual([user, password], ["a@b", "p:w:x"]);
  });
});

describe("sameRepository()", () => {
  const all = [
    "https://github.com/Owner/Repo.git",
    "https://tok@GITHUB.com/owner/repo",
    "git@github.com:owner/repo.git",
    "ssh://git@github.com/owner/repo/",
    "github.com/owner/repo",
  ];
  it("sees through forms, credentials, case and suffix", () => {
    for (const one of all) assert.ok(sameRepository(one, all[0] ?? ""), one);
  });
  it("tells different repositories and hosts apart", () => {
    const others = [
      "https://github.com/owner/repo2",
      "https://gitlab.com/owner/repo",
      "mallory@github.com:owner/repo",
      "",
    ];
    for (const other of others) {
      assert.ok(!sameRepository(all[0] ?? "", other), other);
    }
  });
});

describe("surelySameRepository()", () => {
  it("tells letter case apart where a host may", () => {
    const is = (one: string, other: string) => surelySameRepository(one, other);
    assert.ok(is("https://GitHub.com/Acme/Shop.git", "github.com/acme/shop"));
    assert.ok(!is("https://git.example/Acme/shop", "git.example/acme/shop"));
    assert.ok(!is("https://github.com.git.example/Acme/shop", "github.com.git.example/acme/shop"));
    assert.ok(is("https://GIT.example/Acme/shop.git", "git@git.example:Acme/shop"));
  });
});
