import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  classifyFailure,
  gitError,
  isDamaged,
  isSuspicious,
} from "../../../../src/source/git/git_failure.ts";

describe("classifyFailure()", () => {
  for (
    const [kind, text] of [
      ["denied", "fatal: Authentication failed for 'https://h/o/r/'"],
      ["denied", "fatal: could not read Username for 'https://h': terminal prompts disabled"],
      [
        "denied",
        "remote: denied\nfatal: unable to access 'https://h/': The requested URL returned error: 403",
      ],
      [
        "denied",
        "remote: Zugriff verweigert.\nfatal: unable to access 'https://h/': The requested URL returned error: 403",
      ],
      [
        "unreachable",
        "remote: プロジェクトが見つかりません。\nfatal: repository 'https://h/o/r/' not found",
      ],
      [
        "denied",
        "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
      ],
      [
        "unknown_host",
        "No ED25519 host key is known for a.example and you have requested strict checking.\r\n" +
        "Host key verification failed.\r\nfatal: Could not read from remote repository.",
      ],
      ["host_key", "Host key verification failed.\nfatal: Could not read from remote repository."],
      [
        "transient",
        "ssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote repository.",
      ],
      ["transient", "fatal: unable to access 'https://h/': Could not resolve host: h"],
      ["transient", "fatal: unable to access 'https://h/': The requested URL returned error: 503"],
      [
        "transient",
        "fatal: unable to access 'https://h/': GnuTLS recv error (-110): The TLS connection was " +
        "non-properly terminated.",
      ],
      [
        "transient",
        "error: RPC failed; curl 56\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output",
      ],
      ["too_large", "fatal: fetch-pack: invalid index-pack output\n"],
      [
        "memory",
        "fatal: Out of memory, realloc failed\nfatal: the remote end hung up unexpectedly\n",
      ],
      ["too_large", "remote: hello\nerror: index-pack died of signal 25\nfatal: index-pack failed"],
      [
        "too_large",
        "fatal: write error: File too large\nfatal: fetch-pack: invalid index-pack output",
      ],
      ["memory", "error: index-pack died of signal 9\nfatal: index-pack failed"],
      ["too_large", "error: index-pack died of signal 24\nfatal: index-pack failed"],
      [
        "too_large",
        "Receiving objects: 100% (1/1), done.\nResolving deltas:   1% (4/400)\r" +
        "fatal: fetch-pack: invalid index-pack output\n",
      ],
      ["unreachable", "fatal: repository 'https://h/o/r/' not found"],
      [
        "unreachable",
        "fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote repository.",
      ],
      ["unreachable", "fatal: transport 'ext' not allowed"],
      ["no_such_ref", "fatal: couldn't find remote ref refs/heads/x"],
      ["unwanted", "fatal: remote error: upload-pack: not our ref 0123"],
      ["unwanted", `fatal: remote error: want ${"0123".repeat(10)} not valid`],
      ["unwanted", "error: Server does not allow request for unadvertised object 0123"],
      ["disk", "fatal: write error: No space left on device"],
      ["disk", "error: unable to create temporary file: Read-only file system"],
      ["other", "fatal: remote error: No space left on device"],
      ["other", "remote: fatal: No space left on device"],
      ["other", "fatal: remote error: unable to create x: Permission denied"],
      ["other", "fatal: remote error: not a git repository: '/m'"],
      ["other", "remote: fatal: Unable to create '/m/shallow.lock': File exists."],
      [
        "certificate",
        "fatal: unable to access 'https://h/r/': server certificate verification failed. CAfile: x",
      ],
      ["certificate", "fatal: unable to access 'https://h/r/': SSL certificate problem: expired"],
      [
        "certificate",
        "fatal: unable to access 'https://h/r/': SSL: certificate subject name (x) does not match",
      ],
      ["disk", "fatal: unable to create '/data/x.lock': Permission denied"],
      ["locked", "fatal: Unable to create '/m/shallow.lock': File exists."],
      ["corrupt", "fatal: not a git repository: '/m'"],
      [
        "corrupt",
        "error: object file /m/objects/0 is empty\nfatal: loose object 00 (stored in x) is corrupt",
      ],
      ["corrupt", "fatal: bad object 0123"],
      ["corrupt", "fatal: bad config line 1 in file /m/config"],
      ["other", "something new"],
    ] as const
  ) {
    it(`calls ${JSON.stringify(text.slice(0, 50))} ${kind}`, () => {
      assert.equal(classifyFailure(text), kind);
    });
  }
});

describe("classifyFailure() of a program that talked to a remote", () => {
  for (
    const [kind, text] of [
      ["bad_remote", "fatal: not a git repository: '/m'"],
      ["bad_remote", "error: object file x is empty\nfatal: index-pack failed"],
      ["denied", "inflate: x\ngit@h: Permission denied (publickey)."],
      ["transient", "not a git repository\nssh: connect to host h port 22: Connection refused"],
      ["unreachable", "bad config x\nfatal: Could not read from remote repository."],
      ["disk", "fatal: write error: No space left on device"],
    ] as const
  ) {
    it(`calls ${JSON.stringify(text.slice(0, 50))} ${kind}`, () => {
      assert.equal(classifyFailure(text, true), kind);
    });
  }
});

describe("gitError()", () => {
  it("says what was tried, the advice and git's words in one line", () => {
    const error = gitError({
      doing: "fetching main of h/o/r",
      failure: "denied",
      stderr: "warning: noise\nfatal: Authentication failed\n",
    });
    assert.equal(error.code, "repository_denied");
    assert.match(
      error.message,
      /^fetching main of h\/o\/r failed: .*; git said: fatal: Authentication failed$/,
    );
  });
  it("leaves out what git says after each failure", () => {
    const stderr = "fatal: '/srv/none' does not appear to be a git repository\n" +
      "fatal: Could not read from remote repository.\n\n" +
      "Please make sure you have the correct access rights\nand the repository exists.\n";
    const { message } = gitError({ doing: "fetching main", failure: "unreachable", stderr });
    assert.match(
      message,
      /to be a git repository; fatal: Could not read from remote repository\.$/,
    );
  });

  it("marks words of damage as a reason to look, whatever the failure is called", () => {
    const make = (stderr: string) => gitError({ doing: "x", failure: "transient", stderr });
    assert.ok(isSuspicious(make("fatal: early EOF\nfatal: packed object 01 is corrupt")));
    assert.ok(!isSuspicious(make("fatal: early EOF")));
  });
  it("marks damage, and nothing else", () => {
    const make = (failure: "corrupt" | "other") => gitError({ doing: "x", failure, stderr: "" });
    assert.ok(isDamaged(make("corrupt")));
    assert.ok(!isDamaged(make("other")));
    assert.ok(!isDamaged(new Error("x")));
  });
});
