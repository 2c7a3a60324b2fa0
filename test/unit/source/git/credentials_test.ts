import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type GitCredentials, resolveLogin } from "../../../../src/source/git/credentials.ts";
import { parseRepositoryUrl } from "../../../../src/source/git/repository_url.ts";

const app = { appId: "1", privateKey: "k", installationId: "" };
const credentials: GitCredentials = {
  domains: [
    { domains: ["exact.corp.example"], accessToken: "exact", accessTokenUser: "me" },
    { domains: ["*.corp.example"], accessToken: "wide" },
    { domains: ["*.deep.corp.example"], accessToken: "deep" },
    { domains: ["keyonly.example"], sshPrivateKey: "own key", sshPrivateKeyPassphrase: "pp" },
    { domains: ["app.example"], githubApp: app },
    { domains: ["ports.example:8443", "*.ports.example:8443"], accessToken: "8443" },
    { domains: ["ports.example"], accessToken: "other ports" },
    { domains: ["default.example:443"], accessToken: "443" },
  ],
  global: { accessToken: "global", sshPrivateKey: "global key" },
  tokenHosts: ["GitHub.com", "port.example:8443"],
};
const login = (url: string) => resolveLogin(parseRepositoryUrl(url), credentials);
const token = (password: string, user = "oauth2") => ({ kind: "password", user, password });
const none = { kind: "none" };

describe("resolveLogin()", () => {
  for (
    const [why, url, expected] of [
      ["exact entry first", "https://exact.corp.example/o/r", token("exact", "me")],
      ["suffix", "https://any.corp.example/o/r", token("wide")],
      ["longest suffix", "https://x.deep.corp.example/o/r", token("deep")],
      ["suffix is not the apex", "https://corp.example/o/r", none],
      ["no accidental suffix", "https://evilcorp.example/o/r", none],
      ["global for configured hosts", "https://github.com/o/r", token("global")],
      ["global for configured port", "https://port.example:8443/o/r", token("global")],
      ["not for another port", "https://port.example:9999/o/r", none],
      ["not for other hosts", "https://evil.example/o/r", none],
      ["not for subdomains", "https://x.github.com/o/r", none],
      ["not over plain http", "http://github.com/o/r", none],
      ["entry not over plain http", "http://exact.corp.example/o/r", none],
      ["entry without token has no fallback", "https://keyonly.example/o/r", none],
      ["entry for one port", "https://ports.example:8443/o/r", token("8443")],
      ["entry for other ports", "https://ports.example/o/r", token("other ports")],
      ["suffix for one port", "https://x.ports.example:8443/o/r", token("8443")],
      ["no suffix for other ports", "https://x.ports.example/o/r", none],
      ["entry for the usual port", "https://default.example/o/r", token("443")],
      ["not the usual port", "https://default.example:444/o/r", none],
      ["app", "https://app.example/o/r", { kind: "github_app", app }],
      ["URL wins", "https://u:p@github.com/o/r", token("p", "u")],
      ["user of the URL with the token", "https://bob@github.com/o/r", token("global", "bob")],
      ["files need nothing", "/srv/r", none],
      ["global key", "git@host.example:o/r", {
        kind: "ssh_key",
        key: "global key",
        passphrase: "",
      }],
      ["own key", "ssh://keyonly.example/o/r", {
        kind: "ssh_key",
        key: "own key",
        passphrase: "pp",
      }],
      ["entry without key has no fallback", "git@exact.corp.example:o/r", none],
    ] as const
  ) {
    it(`${why}: ${url}`, () => assert.deepEqual(login(url), expected));
  }

  it("gives the token to plain http on this machine when configured", () => {
    const here = { ...credentials, tokenHosts: ["127.0.0.1"] };
    const url = parseRepositoryUrl("http://127.0.0.1:3000/o/r");
    assert.deepEqual(resolveLogin(url, here), token("global"));
    assert.deepEqual(resolveLogin(url, credentials), none);
  });
});
