import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
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

  const make = () =>
    new GitAccess({
      files: systemFiles,
      redactor: createRedactor(),
      dataDir: join(directory, "data"),
      credentials: {
        domains: [{
          domains: ["b.example"],
          sshPrivateKey: "KEY B",
          sshPrivateKeyPassphrase: "pp",
        }],
        global: { sshPrivateKey: "KEY A" },
        tokenHosts: [],
      },
      options: {
        temporaryPrefix: `${directory}/stackwright-git-`,
        httpProxy: "",
        httpsProxy: "",
        noProxy: "",
        caFile: "",
        knownHostsFile: "",
        githubToken: undefined,
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
      assert.equal(new TextDecoder().decode(await systemFiles.readIfExists(key)), text);
    }
    assert.equal(b.env["STACKWRIGHT_SSH_PASSPHRASE"], "pp");
    assert.equal(a.env["STACKWRIGHT_SSH_PASSPHRASE"], undefined);

    await a.release?.();
    assert.equal(await systemFiles.stat(keys[0] ?? ""), undefined);
    assert.notEqual(await systemFiles.stat(keys[2] ?? ""), undefined);
    await access.close();
    assert.deepEqual(await readdir(directory), []);
  });
});
