import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { becomeOnlyService, isServed } from "../../../src/app/only_service.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

describe("the one service of a data directory", () => {
  it("keeps a second one out, who is told its process, and lets the next one in", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-only-"));
    try {
      const become = () => becomeOnlyService(systemFiles, directory);
      const isThere = () => isServed(systemFiles, directory);
      assert.equal(await isThere(), undefined, "none ever ran");
      // Left by one that was killed; with the id of this process, as in a container.
      await writeFile(join(directory, "serve.lock"), "");
      await writeFile(join(directory, "serve.who"), `process ${process.pid} on elsewhere\n`);
      const letNextIn = await become();
      await assert.rejects(become(), (error) => {
        assert.ok(isStackwrightError(error, "settings_invalid"), String(error));
        assert.match(error.message, new RegExp(`process ${process.pid} on (?!elsewhere)`));
        assert.ok(error.message.includes(directory));
        return true;
      });
      assert.equal((await stat(join(directory, "serve.lock"))).mode & 0o077, 0);
      assert.equal(await isThere(), true);
      await assert.rejects(become(), "looking lets nobody in");
      letNextIn();
      letNextIn();
      assert.equal(await isThere(), false);
      (await become())();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
