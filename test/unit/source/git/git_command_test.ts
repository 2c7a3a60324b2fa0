import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  fetchArgs,
  gitCommand,
  lsRemoteArgs,
  lsRemoteTipsArgs,
  withPlainMask,
} from "../../../../src/source/git/git_command.ts";
import { sshCommand } from "../../../../src/source/git/ssh_command.ts";

const surroundings = { git: "git", path: "/bin", home: "/run/home" };

describe("gitCommand()", () => {
  it("inherits nothing, asks nobody and uses no transport without a remote", () => {
    const { env, cwd, argv } = gitCommand(surroundings, { args: ["ls-tree", "x"], gitDir: "/m" });
    assert.equal(cwd, "/run/home");
    assert.deepEqual(env, {
      PATH: "/bin",
      HOME: "/run/home",
      LC_ALL: "C",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_NO_REPLACE_OBJECTS: "1",
      GIT_NO_LAZY_FETCH: "1",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_ALLOW_PROTOCOL: "none",
    });
    const settings = argv.filter((_, index) => argv[index - 1] === "-c");
    for (
      const one of [
        "core.hooksPath=/dev/null",
        "protocol.ext.allow=never",
        "core.askPass=",
        "gc.auto=0",
      ]
    ) {
      assert.ok(settings.includes(one), one);
    }
    assert.deepEqual(argv.slice(-3), ["--git-dir=/m", "ls-tree", "x"]);
  });

  it("allows only the remote's own protocol, and keeps its settings out of the arguments", () => {
    const { env, argv } = gitCommand(surroundings, {
      args: ["fetch"],
      access: {
        scheme: "https",
        config: [["credential.https://h.helper", "!secret"]],
        env: { STACKWRIGHT_GIT_PASSWORD: "p" },
      },
    });
    assert.equal(env["GIT_ALLOW_PROTOCOL"], "https");
    assert.equal(env["GIT_CONFIG_COUNT"], "1");
    assert.equal(env["GIT_CONFIG_KEY_0"], "credential.https://h.helper");
    assert.equal(env["GIT_CONFIG_VALUE_0"], "!secret");
    assert.equal(env["STACKWRIGHT_GIT_PASSWORD"], "p");
    assert.ok(argv.includes("http.lowSpeedTime=60"));
    assert.ok(!argv.join(" ").includes("secret"));
  });

  it("names work tree and index where they are needed", () => {
    const { env, argv } = gitCommand(surroundings, {
      args: ["checkout-index"],
      gitDir: "/m",
      workTree: "/w",
      indexFile: "/i",
    });
    assert.equal(env["GIT_INDEX_FILE"], "/i");
    assert.deepEqual(argv.slice(-3), ["--git-dir=/m", "--work-tree=/w", "checkout-index"]);
  });
});

describe("arguments of git", () => {
  it("end the options before anything from outside", () => {
    assert.deepEqual(lsRemoteArgs("https://h/r", ["refs/heads/x"]), [
      "ls-remote",
      "--symref",
      "--end-of-options",
      "https://h/r",
      "refs/heads/x",
    ]);
    const args = fetchArgs("u", ["+a:b"], { kind: "as_is" });
    assert.deepEqual(args.slice(-3), ["--end-of-options", "u", "+a:b"]);
    const asked = fetchArgs("u", [], { kind: "as_is" });
    assert.deepEqual(asked.slice(-3), ["--stdin", "--end-of-options", "u"]);
    assert.deepEqual(lsRemoteTipsArgs("u").slice(-2), ["--end-of-options", "u"]);
  });

  it("say how much history is wanted", () => {
    const history = (args: string[]) => args.filter((arg) => /depth|shallow$/.test(arg));
    const all = (kind: Parameters<typeof fetchArgs>[2]) => history(fetchArgs("u", [], kind));
    assert.deepEqual(all({ kind: "as_is" }), ["--update-shallow"]);
    assert.deepEqual(all({ kind: "all" }), ["--update-shallow", "--unshallow"]);
    assert.deepEqual(all({ kind: "commits", count: 3 }), ["--update-shallow", "--depth=3"]);
  });

  it("withPlainMask() passes the command as arguments of a fixed text", () => {
    const { argv } = withPlainMask({ argv: ["git", "a b", "$(id)"] });
    assert.deepEqual(argv, ["sh", "-c", 'umask 022 && exec "$@"', "sh", "git", "a b", "$(id)"]);
  });
});

describe("sshCommand()", () => {
  it("uses one key, no agent and no questions", () => {
    const text = sshCommand({ key: "/k", knownHosts: ["/kh"], strict: true, asks: false });
    assert.match(text, /^ssh -F \/dev\/null -i \/k /);
    for (
      const each of [
        "IdentitiesOnly=yes",
        "IdentityAgent=none",
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
      ]
    ) {
      assert.ok(text.includes(` -o ${each}`), each);
    }
  });
  it("remembers hosts without a file, and may ask for a passphrase", () => {
    const text = sshCommand({ key: "/k", knownHosts: ["/kh"], strict: false, asks: true });
    assert.ok(text.includes("StrictHostKeyChecking=accept-new") && text.includes("BatchMode=no"));
  });
  it("quotes what a shell would read", () => {
    const text = sshCommand({
      key: "/a b'c",
      knownHosts: ["/d %h", "/e", '/f"\\g'],
      strict: false,
      asks: false,
    });
    assert.ok(text.includes(` -i '/a b'\\''c' `));
    assert.ok(text.includes(`'UserKnownHostsFile="/d %%h" "/e" "/f\\"\\\\g"'`));
  });
});
