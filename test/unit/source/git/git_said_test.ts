import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GitAccess } from "../../../../src/source/git/git_access.ts";
import { Git, type GitParts } from "../../../../src/source/git/git.ts";
import { parseRepositoryUrl } from "../../../../src/source/git/repository_url.ts";
import { createRedactor, systemFiles } from "../../../../src/system/mod.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";

const NEVER = new AbortController().signal;
const SECRET = `canary-${"0123456789abcdef".repeat(8)}`;
/** Characters of a long text that are read: the last ones. */
const READ = 256 * 1024;

/** What is known of a git that said `stderr`. */
async function said(stderr: string): Promise<string> {
  const redactor = createRedactor();
  redactor.add(SECRET);
  const parts = {
    commands: { run: () => Promise.resolve({ code: 1, stdout: new Uint8Array(), stderr }) },
    clock: createFakeClock(),
    redactor,
    access: { home: () => Promise.resolve("/home") },
    options: { git: "git", path: "/bin", localTimeoutMs: 1000, http: undefined },
  } as unknown as GitParts;
  return (await new Git(parts).local({ args: ["fetch"] }, NEVER)).stderr;
}

/** A git that talks to the remote at a URL with a login, and repeats all that it knows. */
function talkingTo(text: string) {
  const redactor = createRedactor();
  const url = parseRepositoryUrl(text);
  const git = { git: "git", path: "/bin", remoteTimeoutMs: 1000, attempts: 1, mostBytes: 0 };
  const access = new GitAccess({
    files: systemFiles,
    redactor,
    dataDir: "/data",
    credentials: { domains: [], global: {}, tokenHosts: [] },
    options: {
      ...{ temporaryPrefix: "/none/", httpProxy: "", httpsProxy: "", noProxy: "", caFile: "" },
      ...{ knownHostsFile: "", githubToken: undefined },
    },
  });
  access.home = () => Promise.resolve("/home");
  const commands = {
    run: ({ env }: { env: Readonly<Record<string, string>> }) => {
      const stderr = `fatal: ${env["STACKWRIGHT_GIT_USER"]} ${env["STACKWRIGHT_GIT_PASSWORD"]}`;
      return Promise.resolve({ code: 1, stdout: new Uint8Array(), stderr });
    },
  };
  const options = { ...git, mostMemory: 0, mostProcessorSeconds: 0, http: undefined };
  const parts = { commands, clock: createFakeClock(), redactor, access, options };
  return { redactor, url, access, git: new Git(parts as unknown as GitParts) };
}

describe("what git says of its work", () => {
  it("has no secret in it", async () => {
    assert.equal(await said(`fatal: no ${SECRET}`), "fatal: no ***");
  });

  for (const kept of [8, 20, SECRET.length - 1]) {
    it(`has none of which ${kept} characters were left when it was cut`, async () => {
      const rest = SECRET.slice(-kept);
      const end = `${"x\n".repeat(READ)}fatal: the end`;
      const stderr = `${SECRET}${end.slice(-(READ - kept))}`;
      const text = await said(stderr);
      assert.ok(text.endsWith("fatal: the end"));
      assert.ok(!text.includes(rest));
    });
  }

  it("has no password of the URL in it, and what others say stays as it is", async () => {
    const { git, access, url, redactor } = talkingTo("https://author:deployed@git.example/o/r");
    const { stderr } = await git.remote(url, { args: ["ls-remote"] }, NEVER);
    assert.equal(stderr, "fatal: author ***");
    assert.equal((await access.forHttp(url, NEVER))?.kind, "password");
    assert.equal(redactor.redact("deployed release 7"), "deployed release 7");
  });
});

describe("an exchange that fails because of the network", () => {
  for (const [seconds, times] of [[1, 3], [60, 1]] as const) {
    it(`is begun ${times} times when that takes ${seconds} s`, async () => {
      const { url, access } = talkingTo("http://127.0.0.1:1/o/r");
      let [now, count] = [0, 0];
      const run = () => {
        [now, count] = [now + seconds * 1000, count + 1];
        const stderr = "fatal: unable to access: Operation too slow";
        return Promise.resolve({ code: 128, stdout: new Uint8Array(), stderr });
      };
      const parts = {
        commands: { run },
        clock: { now: () => new Date(now), sleep: () => Promise.resolve() },
        redactor: createRedactor(),
        access,
        options: { git: "git", path: "/bin", attempts: 3, http: undefined },
      };
      const result = await new Git(parts as unknown as GitParts).remote(url, { args: [] }, NEVER);
      assert.deepEqual([result.failure, count], ["transient", times]);
    });
  }
});
