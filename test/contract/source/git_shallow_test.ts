import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createTestSource, type TestSource } from "../../fakes/git_source.ts";

/** More commits than a mirror may list: git takes ids of commits that it lacks as they are. */
const MANY = Array.from({ length: 105_000 }, () => `${randomBytes(20).toString("hex")}\n`).join("");

describe("the list of commits without parents of a mirror", () => {
  let t: TestSource;
  let repository: FakeRepository;
  /** A server that is shallow itself. */
  let url: string;
  let newest: string;

  beforeEach(async () => {
    t = await createTestSource();
    repository = await createRepository(join(t.directory, "remote"));
    for (let n = 0; n < 5; n++) newest = await repository.commit({ "a.txt": `${n}\n` });
    const path = join(t.directory, "shallow.git");
    execFileSync("git", ["clone", "--quiet", "--bare", "--depth=2", repository.url, path]);
    url = `file://${path}`;
  });
  afterEach(() => t.close());

  const list = (of = url) => join(t.mirror(of), "shallow");

  it("is taken over from a server that is shallow itself, and read no more than it changes", async () => {
    assert.equal((await t.resolve(url, "main", 2)).id, newest);
    assert.equal(statSync(list()).size, 41);
    const fetches = t.count("fetch");
    assert.equal((await t.resolve(url, "main", 2)).id, newest);
    assert.equal(t.count("fetch"), fetches);
  });

  it("that is too large has the mirror made anew, once", async () => {
    for (const  of of[url, repository.url]) {
      await t.resolve(of, "main", 1);
      appendFileSync(list(of), MANY);
      const fetches = t.count("fetch");
      assert.equal((await t.resolve(of, "main", 1)).id, newest);
      assert.equal(t.count("fetch"), fetches + 1);
      assert.equal(statSync(list(of)).size, 41);
      assert.match(
        t.warnings.at(-1) ?? "",
        /^the mirror of \S+ lists more than 4194304 bytes of commits/,
      );
      await t.resolve(of, "main", 1);
      assert.equal(t.count("fetch"), fetches + 1);
    }
  });

  it("that is too large again is a clear error, and nothing of it is read", async () => {
    // As a server with very many sides does it, of which git would take minutes.
    const bin = join(t.directory, "bin");
    mkdirSync(bin);
    writeFileSync(join(t.directory, "many"), MANY);
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const script = [
      "#!/bin/sh",
      `'${real}' "$@" || exit`,
      'case " $* " in *" fetch "*) ;; *) exit 0 ;; esac',
      'for each; do case "$each" in --git-dir=*) dir=\${each#--git-dir=} ;; esac; done',
      `cat '${t.directory}/many' >>"\${dir:-$GIT_DIR}/shallow"`,
    ];
    writeFileSync(join(bin, "git"), script.join("\n") + "\n");
    chmodSync(join(bin, "git"), 0o755);
    const path = `${bin}:${process.env["PATH"]}`;
    const many = await createTestSource({ options: { path } });
    try {
      for (let poll = 0; poll < 2; poll++) {
        await assert.rejects(many.resolve(url, "main"), (error) => {
          assert.ok(isStackwrightError(error, "source_invalid"), String(error));
          assert.match(
            error.message,
            /is itself a shallow repository with more than 4194304 bytes/,
          );
          return true;
        });
      }
    } finally {
      await many.close();
    }
  });
});
