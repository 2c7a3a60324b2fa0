import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { liveHolds } from "../../../src/deploy/copy_old_data.ts";
import { systemFiles, withTemporaryDirectory } from "../../../src/system/mod.ts";

describe("liveHolds()", () => {
  it("follows links of containers inside of the directory alone, and a file in the way holds nothing", () =>
    withTemporaryDirectory(systemFiles, join(tmpdir(), "swt-live-"), async (root) => {
      const live = join(root, "live");
      await mkdir(join(live, "data/empty"), { recursive: true });
      await mkdir(join(root, "host"));
      await writeFile(join(root, "host/there"), "");
      await writeFile(join(live, "data/file"), "text");
      await symlink("data", join(live, "inside"));
      await symlink(join(root, "host"), join(live, "out"));
      await symlink("../host", join(live, "up"));
      const holds = (path: string) => liveHolds(systemFiles, live, path);
      for (const path of ["data", "data/file", "inside/file"]) {
        assert.equal(await holds(path), true);
      }
      for (const path of ["data/empty", "data/none", "none/x", "data/file/x"]) {
        assert.equal(await holds(path), false, path);
      }
      for (const path of ["out/there", "up/there", "out/none", "up/none"]) {
        await assert.rejects(holds(path), { code: "path_escapes" }, path);
      }
    }));
});
