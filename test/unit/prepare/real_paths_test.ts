import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { PrepareParts } from "../../../src/prepare/mod.ts";
import { realPaths, requireInside } from "../../../src/prepare/real_paths.ts";
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

/** Real places in a tree of these directories and links, and how often one was looked for. */
function tree(places: Readonly<Record<string, string>>) {
  let looks = 0;
  const realPath = (path: string) => {
    looks++;
    const below = Object.keys(places).filter((each) => path === each || path.startsWith(`${each}/`))
      .sort((a, b) => b.length - a.length)[0];
    return Promise.resolve(below === path ? places[below] : undefined);
  };
  const files = { ...systemFiles, realPath };
  return { find: (...paths: string[]) => realPaths({ files }, "/tree", paths), looks: () => looks };
}

describe("realPaths()", () => {
  const SMALL = {
    "/tree": "/tree",
    "/tree/a": "/tree/a",
    "/tree/l": "/tree/a",
    "/tree/out": "/etc",
  };

  it("follows links as far as there is something, and refuses what lies elsewhere", async () => {
    const { find } = tree(SMALL);
    const found = await find("a", "l", "l/b/c", "no/b/c", ".");
    assert.deepEqual([...found], [
      ["a", "a"],
      ["l", "a"],
      ["l/b/c", "a/b/c"],
      ["no/b/c", "no/b/c"],
      [".", "."],
    ]);
    await assert.rejects(find("out"), /out leads out of the repository/);
    await assert.rejects(find("out/no/b"), /out\/no\/b leads out of the repository/);
  });

  it("looks for few parts of a path of thousands, and for none of one that no file can have", async () => {
    const { find, looks } = tree(SMALL);
    const long = `l/${"x/".repeat(2000)}y`;
    assert.equal((await find(long)).get(long), `a${long.slice(1)}`);
    assert.ok(looks() < 20, String(looks()));
    await assert.rejects(find("x/".repeat(2100)), /has 4200 characters, the most is 4096/);
  });
});
