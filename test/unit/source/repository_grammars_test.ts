import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkRepositoryUrl } from "../../../src/config/repository_url.ts";
import { parseRepositoryUrl } from "../../../src/source/git/repository_url.ts";

/** A URL, whether a configuration may say it, and whether it can be asked for as it is. */
const TABLE: readonly [url: string, inConfiguration: boolean, asked: boolean][] = [
  ["https://git.example.com/o/r", true, true],
  ["https://git.example.com/o/r.git", true, true],
  ["HTTPS://Git.Example.com:8443/o/r", true, true],
  ["http://user:word@git.example.com/o/r", true, true],
  ["ssh://git@git.example.com/o/r", true, true],
  ["ssh://git@git.example.com:2222/~me/r", true, true],
  ["git@git.example.com:o/r.git", true, true],
  ["  https://git.example.com/o/r  ", true, true],
  ["file:///srv/r", true, true],
  ["/srv/r", true, true],
  ["", false, false],
  ["o/r", false, false],
  ["-oProxyCommand=x@h:o/r", false, false],
  ["git://git.example.com/o/r", false, false],
  ["ftp://git.example.com/o/r", false, false],
  ["ext::sh -c x", false, false],
  ["https:///o/r", false, false],
  ["https://git.example.com/o r", false, true],
  [`https://git.example.com/${"r".repeat(5000)}`, false, false],
  ["https://git.example.com/o/r\u0007", false, false],
  // Git reads a host with its port, or a name, out of the brackets.
  ["git@[127.0.0.1:18172]:o/r", false, false],
  ["git@[127.0.0.1]:o/r", false, false],
  ["git@[cafe.de]:o/r", false, false],
  ["git@[cafe:22]:o/r", false, false],
  ["ssh://git@[127.0.0.1:18172]/o/r", true, false],
  ["https://[cafe.de]/o/r", true, false],
  ["ssh://git@[::1]:2222/o/r", true, true],
  ["https://[fe80::1]/o/r", true, true],
  // A rewrite may put a repository in the place of these.
  ["https://git.example.com", true, false],
  ["https://git.example.com/o/r?x=1", true, false],
  ["https://git.example.com/o/r#x", true, false],
  ["https://git.example.com/o/../r", true, false],
  ["https://git.example.com/o%2Fr", true, false],
  [`https://git.example.com${"/r".repeat(51)}`, true, false],
  [`https://git.example.com${"/r".repeat(50)}`, true, true],
  ["https://git.example.com:0/o/r", true, false],
  // Clients of HTTP read these in another way than git.
  ["https://git.example.com/o\\..\\r", true, false],
  ["https://127.0.0.1./o/r", true, false],
  ["https://0x7f000001/o/r", true, false],
  ["https://127.1/o/r", true, false],
  ["https://git.1/o/r", true, false],
  ["https://127.0.0.1/o/r", true, true],
  ["https://git.example.com./o/r", true, true],
  ["https://git_1.example.com/o/r", true, true],
  ["https://[0:0:0:0:0:0:0:1]/o/r", true, true],
  // These forms are for operators, who name sources in settings and on the command line.
  ["git.example.com:o/r", false, true],
  ["file://localhost/srv/r", false, true],
  ["git@[fe80:1:2:3:4:5:6:7]:o/r", false, true],
];

describe("The two grammars of repository URLs", () => {
  for (const [url, inConfiguration, asked] of TABLE) {
    const shown = JSON.stringify(url.slice(0, 60));
    it(`agree about ${shown}, or differ on purpose`, () => {
      assert.equal("value" in checkRepositoryUrl(url, true), inConfiguration);
      const parse = () => parseRepositoryUrl(url);
      if (asked) parse();
      else assert.throws(parse, { code: "bad_request" });
    });
  }
});
