import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { PrepareParts } from "../../../src/prepare/mod.ts";
import { requireInside } from "../../../src/prepare/real_paths.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const parts = { files: systemFiles } as unknown as PrepareParts;

/** Looks at a path of a tree with links to what the host has, and to what it does not have. */
async function look(path: string): Promise<unknown> {
  const host = await mkdtemp(join(tmpdir(), "stackwright-test-"));
  const tree = join(host, "tree");
  try {
    await mkdir(join(tree, "deploy"), { recursive: true });
    await writeFile(join(tree, "deploy/compose.yaml"), "");
    await writeFile(join(host, "there.yaml"), "");
    await symlink("deploy", join(tree, "inside"));
    await symlink(join(host, "there.yaml"), join(tree, "there.yaml"));
    await symlink(join(host, "missing.yaml"), join(tree, "missing.yaml"));
    await symlink(host, join(tree, "out"));
    return await requireInside(parts, tree, [path]);
  } finally {
    await rm(host, { recursive: true });
  }
}

describe("requireInside()", () => {
  it("lets files of the tree pass, also through links inside it", async () => {
    await look("deploy/compose.yaml");
    await look("inside/compose.yaml");
  });

  it("says that a file is missing where no link is on the way", async () => {
    await assert.rejects(look("deploy/other.yaml"), {
      code: "config_invalid",
      message: "deploy/other.yaml does not exist in the repository",
    });
  });

  for (const path of ["there.yaml", "missing.yaml", "out/there.yaml", "out/missing.yaml"]) {
    it(`says of ${path} the same whether the host has what a link leads to or not`, async () => {
      await assert.rejects(look(path), {
        code: "path_escapes",
        message: `${path} leads out of the repository or nowhere`,
      });
    });
  }
});
