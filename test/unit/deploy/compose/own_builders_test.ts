import assert from "node:assert/strict";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { withOwnBuilders } from "../../../../src/deploy/compose/own_builders.ts";
import { systemFiles, withTemporaryDirectory } from "../../../../src/system/mod.ts";

const inDirectory = (test: (root: string) => Promise<void>) =>
  withTemporaryDirectory(systemFiles, join(tmpdir(), "swt-builders-"), test);

describe("withOwnBuilders()", () => {
  it("shows a build the builders that were chosen, and keeps no record of it", () =>
    inDirectory(async (root) => {
      const [known, own] = [join(root, "client/buildx"), join(root, "own")];
      await mkdir(join(known, "instances"), { recursive: true });
      await mkdir(join(known, "refs"));
      await writeFile(join(known, "current"), '{"Name":"mine"}');
      const env = await withOwnBuilders(systemFiles, { DOCKER_CONFIG: join(root, "client") }, own);
      assert.deepEqual(env, { BUILDX_CONFIG: own });
      assert.deepEqual(await systemFiles.list(own), [".buildNodeID", "current", "instances"]);
      assert.equal(await readFile(join(own, "current"), "utf8"), '{"Name":"mine"}');
      assert.equal(
        await realpath(join(own, "instances")),
        await realpath(join(known, "instances")),
      );
      // Buildx replaces no link, and what it writes here is for this build alone.
      assert.equal((await systemFiles.stat(join(own, "current")))?.kind, "file");
    }));

  it("makes one id for all builds, by which engines know contexts again", () =>
    inDirectory(async (root) => {
      const env = { BUILDX_CONFIG: join(root, "none/yet"), HOME: join(root, "other") };
      const id = async (own: string) => {
        await withOwnBuilders(systemFiles, env, join(root, own));
        return await readFile(join(root, own, ".buildNodeID"), "utf8");
      };
      const first = await id("a");
      assert.match(first, /^[0-9a-f]{16}$/);
      assert.equal(await id("b"), first);
    }));

  it("does without where the directory cannot be made", () =>
    inDirectory(async (root) => {
      await writeFile(join(root, "file"), "");
      const env = { BUILDX_CONFIG: join(root, "file/buildx") };
      await withOwnBuilders(systemFiles, env, join(root, "own"));
      assert.deepEqual(await systemFiles.list(join(root, "own")), []);
    }));
});
