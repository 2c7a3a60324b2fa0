import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readContents } from "../../../../src/deploy/swarm/read_contents.ts";
import { isStackwrightError } from "../../../../src/model/mod.ts";
import { systemFiles } from "../../../../src/system/mod.ts";

describe("readContents()", () => {
  let tree: string;
  const read: string[] = [];
  const files = {
    ...systemFiles,
    readPlain(path: string, most: number) {
      read.push(path);
      return systemFiles.readPlain(path, most);
    },
  };
  const contentOf = async (file: string) => {
    const sources = { files, tree, stackDirectory: "/data/shop", variables: {} };
    const model = { configs: { c: { file: `/data/shop/current/${file}` } } };
    return new TextDecoder().decode((await readContents(model, sources))("configs", "c"));
  };
  before(async () => {
    tree = await mkdtemp(join(tmpdir(), "swt-contents-"));
    await mkdir(join(tree, "directory"));
    await writeFile(join(tree, "small"), "content");
    // A repository may hold it in a thousandth of its size.
    await writeFile(join(tree, "huge"), "");
    await truncate(join(tree, "huge"), 3 * 1024 ** 3);
  });
  after(() => rm(tree, { recursive: true }));

  it("reads a file of the release's own tree", async () => {
    assert.equal(await contentOf("small"), "content");
  });

  it("refuses what is more than a swarm takes without reading it", async () => {
    read.length = 0;
    await assert.rejects(
      contentOf("huge"),
      (error) => isStackwrightError(error, "unsupported") && /at most 1024000/.test(error.message),
    );
    assert.deepEqual(read, []);
  });

  for (const file of ["directory", "missing"]) {
    it(`says that there is no file where there is one that is ${file}`, async () => {
      await assert.rejects(
        contentOf(file),
        (error) => isStackwrightError(error, "config_invalid") && /no file/.test(error.message),
      );
    });
  }
});
