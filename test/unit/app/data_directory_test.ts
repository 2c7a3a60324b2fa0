import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openDataDirectory, tryDataDirectory } from "../../../src/app/data_directory.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { type Files, systemFiles } from "../../../src/system/mod.ts";

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-data-"));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe("openDataDirectory", () => {
  it("openDataDirectory() makes it for its owner alone, leaves no file in it, and may be repeated", async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, "a/data");
      await openDataDirectory(systemFiles, path);
      await systemFiles.write(join(path, "kept"), "x");
      await openDataDirectory(systemFiles, path);
      assert.deepEqual(await systemFiles.list(path), ["kept", "releases", "sources"]);
      assert.equal((await stat(path)).mode & 0o777, 0o700);
    });
  });

  it("openDataDirectory() finds out that there is no room for any content", async () => {
    await inDirectory(async (directory) => {
      const full: Files["write"] = (path, content, options) =>
        content !== ""
          ? Promise.reject(new Error("ENOSPC: no space left on device"))
          : systemFiles.write(path, content, options);
      for (const work of [openDataDirectory, tryDataDirectory]) {
        await assert.rejects(
          work({ ...systemFiles, write: full }, directory),
          (error) => isStackwrightError(error, "data_dir_unusable") && /ENOSPC/.test(error.message),
        );
      }
      assert.deepEqual(await systemFiles.list(directory), []);
    });
  });

  it("openDataDirectory() closes what has secrets in it, also where the directory itself is open", async () => {
    await inDirectory(async (directory) => {
      await chmod(directory, 0o755);
      await mkdir(join(directory, "sources"), { mode: 0o755 });
      await openDataDirectory(systemFiles, directory);
      assert.equal((await stat(directory)).mode & 0o777, 0o755);
      for (const name of ["sources", "releases"]) {
        assert.equal((await stat(join(directory, name))).mode & 0o777, 0o700, name);
      }
    });
  });

  it("openDataDirectory() names the path when a file is in its place", async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, "file");
      await writeFile(path, "");
      for (const data of [path, join(path, "data")]) {
        await assert.rejects(openDataDirectory(systemFiles, data), isUnusable(data));
      }
    });
  });

  for (const code of ["ENOSPC", "EROFS", "EACCES"]) {
    it(`openDataDirectory() says that it cannot be written when the disk says ${code}`, async () => {
      const failing: Files = {
        ...systemFiles,
        makeDirectory: () => Promise.resolve(),
        write: () => Promise.reject(Object.assign(new Error(`${code}: no`), { code })),
      };
      await assert.rejects(openDataDirectory(failing, "/data"), isUnusable("/data", code));
    });
  }
});

function isUnusable(path: string, ...parts: string[]) {
  return (error: unknown) => {
    assert.ok(isStackwrightError(error, "data_dir_unusable"), String(error));
    assert.ok(error.message.startsWith(`DATA_DIR ${path} cannot be written (`), error.message);
    for (const part of parts) assert.ok(error.message.includes(part), error.message);
    return true;
  };
}
