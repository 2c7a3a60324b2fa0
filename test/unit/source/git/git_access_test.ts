import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AccessOptions } from "../../../../src/source/git/access_options.ts";
import { GitAccess } from "../../../../src/source/git/git_access.ts";
import { parseRepositoryUrl } from "../../../../src/source/git/repository_url.ts";
import { createRedactor, systemFiles } from "../../../../src/system/mod.ts";

const never = () => new AbortController().signal;

describe("GitAccess", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "swt-access-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const make = (githubToken?: AccessOptions["githubToken"], files = systemFiles) =>
    new GitAccess({
      files,
      redactor: createRedactor(),
      dataDir: join(directory, "data"),
      credentials: {
        domains: [{
          domains: ["b.example"],
          sshPrivateKey: "KEY B",
          sshPrivateKeyPassphrase: "pp",
        }, {
          domains: ["c.example"],
          sshPrivateKey: "KEY C",
          sshPrivateKeyPassphrase: "p\0p",
          githubApp: { appId: "1", installationId: "1", privateKey: "KEY D" },
        }],
        global: { sshPrivateKey: "KEY A" },
        tokenHosts: ["polled.example:443"],
      },
      options: {
        temporaryPrefix: `${directory}/stackwright-git-`,
        httpProxy: "",
        httpsProxy: "",
        noProxy: "",
        caFile: "",
        knownHostsFile: "",
        githubToken,
      },
    });
  const keyOf = (env: Readonly<Record<string, string>>) =>
    / -i (\S+) /.exec(env["GIT_SSH_COMMAND"] ?? "")?.[1] ?? "";

  it("forRemote() gives each command the one key of its host, in a file only we can read", async () => {
    const access = make();
    const [a, b, again] = await Promise.all(
      ["git@a.example:o/r", "git@b.example:o/r", "git@a.example:o/r"].map((url) =>
        access.forRemote(parseRepositoryUrl(url), never())
      ),
    );
    assert.ok(a !== undefined && b !== undefined && again !== undefined);
    const keys = [a, b, again].map(({ env }) => keyOf(env));
    assert.equal(new Set(keys).size, 3);
    for (const [index, text] of ["KEY A\n", "KEY B\n", "KEY A\n"].entries()) {
      const key = keys[index] ?? "";
      assert.equal((await stat(key)).mode & 0o777, 0o600);
      assert.equal((await stat(join(key, ".."))).mode & 0o777, 0o700);
      assert.equal(new TextDecoder().decode(await systemFiles.readIfExists(key, 4096)), text);
    }
    assert.equal(b.env["STACKWRIGHT_SSH_PASSPHRASE"], "pp");
    assert.equal(a.env["STACKWRIGHT_SSH_PASSPHRASE"], undefined);

    await a.release?.();
    assert.equal(await systemFiles.stat(keys[0] ?? ""), undefined);
    assert.notEqual(await systemFiles.stat(keys[2] ?? ""), undefined);
    await access.close();
    assert.deepEqual(await readdir(directory), []);
  });

  it("forRemote() says so where a token or passphrase has what no environment holds", async () => {
    for (const token of ["a\0b", "a\nb"]) {
      const access = make(() => Promise.resolve(token));
      const url = parseRepositoryUrl("https://c.example/o/r");
      const denied = { code: "repository_denied", message: /to c\.example has a control char/ };
      await assert.rejects(access.forRemote(url, never()), denied);
      await assert.rejects(access.forHttp(url, never()), denied);
      await assert.rejects(
        access.forRemote(parseRepositoryUrl("git@c.example:o/r"), never()),
        denied,
      );
    }
  });

  it("forRemote() has no more hosts added to long known_hosts, but those that the operator named", async () => {
    const access = make();
    const isStrict = async (host: string) => {
      const { env } = await access.forRemote(parseRepositoryUrl(`git@${host}:o/r`), never());
      return env["GIT_SSH_COMMAND"]?.includes("StrictHostKeyChecking=yes");
    };
    await systemFiles.makeDirectory(join(directory, "data"));
    assert.equal(await isStrict("a.example"), false);
    await systemFiles.write(join(directory, "data", "known_hosts"), "x".repeat((1 << 20) + 1));
    assert.equal(await isStrict("a.example"), true);
    assert.equal(await isStrict("b.example"), false);
    assert.equal(await isStrict("polled.example"), false);
    await access.close();
  });

  it("forRemote() has no host added to known_hosts on a full disk: ssh does not see that it is not kept", async () => {
    let free = 0;
    const entries = { free: 1e6, total: 1e6 };
    const room = () => Promise.resolve({ free, total: 1e12, entries });
    const access = make(undefined, { ...systemFiles, room });
    const isStrict = async () => {
      const url = parseRepositoryUrl("git@polled.example:o/r");
      const { env } = await access.forRemote(url, never());
      return env["GIT_SSH_COMMAND"]?.includes("StrictHostKeyChecking=yes");
    };
    assert.equal(await isStrict(), true);
    free = 1e12;
    assert.equal(await isStrict(), false);
    await access.close();
  });
});
