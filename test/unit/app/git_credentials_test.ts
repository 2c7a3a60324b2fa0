import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gitCredentials } from "../../../src/app/git_credentials.ts";
import { parseRepositoryUrl, resolveLogin } from "../../../src/source/mod.ts";
import { readSettings } from "../../../src/settings/mod.ts";

const credentials = (env: Readonly<Record<string, string>>) =>
  gitCredentials(readSettings(env, () => "", { uid: 0 }));

describe("gitCredentials", () => {
  it("gitCredentials() of empty settings has none", () => {
    assert.deepEqual(credentials({}), { domains: [], global: {}, tokenHosts: [] });
  });

  it("gitCredentials() hands global credentials over, with the user of the token", () => {
    assert.deepEqual(
      credentials({
        GIT_ACCESS_TOKEN: "t",
        SSH_PRIVATE_KEY: "k",
        SSH_PRIVATE_KEY_PASSPHRASE: "p",
        SKIP_TLS_VERIFICATION: "true",
      }).global,
      {
        accessToken: "t",
        accessTokenUser: "oauth2",
        sshPrivateKey: "k",
        sshPrivateKeyPassphrase: "p",
        insecureSkipTls: true,
      },
    );
  });

  it("gitCredentials() gives the token to the hosts that are polled, once each, and no others", () => {
    const { tokenHosts } = credentials({
      GIT_ACCESS_TOKEN: "t",
      POLL_CONFIG: "- {url: 'https://GitHub.com/o/r'}\n- {url: 'https://github.com/o/s'}\n" +
        "- {url: /srv/repo}\n- {url: 'https://u:p@git.example:8443/o/r'}\n",
    });
    assert.deepEqual(tokenHosts, ["github.com:443", "git.example:8443"]);
  });

  it("gitCredentials() counts where rewriting leads to as configured, not what it replaces", () => {
    const { tokenHosts } = credentials({
      GIT_ACCESS_TOKEN: "t",
      SOURCE_URL_REWRITES: "github.com: https://mirror.lan\nhttps://x.example/o: file:///srv\n",
      POLL_CONFIG: "- {url: 'https://github.com/o/r'}\n- {url: 'https://y.example/o/r'}\n",
    });
    assert.deepEqual([...tokenHosts].sort(), [
      "mirror.lan:443",
      "mirror.lan:80",
      "y.example:443",
    ]);
  });

  it("gitCredentials() gives the token to no other port of a polled host", () => {
    const given = credentials({
      GIT_ACCESS_TOKEN: "t",
      POLL_CONFIG: "- {url: 'https://a.example/o/r'}\n- {url: 'https://b.example:8443/o/r'}\n" +
        "- {url: 'ssh://git@c.example:2222/o/r'}\n- {url: 'http://127.0.0.1:3000/o/r'}\n",
    });
    const login = (url: string) => resolveLogin(parseRepositoryUrl(url), given).kind;
    const [yes, no] = [
      ["https://a.example/x", "https://a.example:443/x", "https://b.example:8443/x"]
        .concat("https://c.example/x", "http://127.0.0.1:3000/x"),
      ["https://a.example:8443/x", "https://b.example/x", "https://c.example:2222/x"]
        .concat("http://127.0.0.1:3001/x", "http://127.0.0.1/x"),
    ];
    for (const url of yes) assert.equal(login(url), "password", url);
    for (const url of no) assert.equal(login(url), "none", url);
  });

  it("gitCredentials() hands the global App over", () => {
    const env = {
      GITHUB_APP_ID: "7",
      GITHUB_APP_PRIVATE_KEY: "p",
      GITHUB_APP_INSTALLATION_ID: "9",
    };
    assert.deepEqual(credentials(env).global, {
      githubApp: { appId: "7", privateKey: "p", installationId: "9" },
    });
  });

  it("gitCredentials() gives the token to the hosts of the setting alone when there is one", () => {
    const { tokenHosts } = credentials({
      GIT_ACCESS_TOKEN: "t",
      GIT_ACCESS_TOKEN_HOSTS: "git.example",
      POLL_CONFIG: "- {url: 'https://github.com/o/r'}\n",
    });
    assert.deepEqual(tokenHosts, ["git.example"]);
  });

  it("gitCredentials() hands over what each domain has, and nothing it has not", () => {
    const { domains } = credentials({
      GIT_AUTH_DOMAINS: "- {domains: [a], git_access_token: t, insecure_skip_tls: yes}\n" +
        "- {domains: [b], ssh_private_key: k}\n" +
        "- {domains: [c], github_app_id: 7, github_app_private_key: p}\n",
    });
    assert.deepEqual(domains, [
      { domains: ["a"], accessToken: "t", accessTokenUser: "oauth2", insecureSkipTls: true },
      { domains: ["b"], sshPrivateKey: "k" },
      { domains: ["c"], githubApp: { appId: "7", privateKey: "p", installationId: "" } },
    ]);
  });
});
