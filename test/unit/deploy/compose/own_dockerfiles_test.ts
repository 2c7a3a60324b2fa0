import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { withOwnDockerfiles } from "../../../../src/deploy/compose/own_dockerfiles.ts";
import type { ComposeModel } from "../../../../src/model/mod.ts";
import { systemFiles, withTemporaryDirectory } from "../../../../src/system/mod.ts";

/** Places a tree, asks for a model with `build`, and tells the Dockerfile that the build gets. */
async function given(
  tree: Readonly<Record<string, string>>,
  build: (root: string) => Readonly<Record<string, unknown>>,
  test: (dockerfile: string, root: string) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(systemFiles, join(tmpdir(), "swt-dockerfiles-"), async (root) => {
    for (const [path, text] of Object.entries(tree)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const own = join(root, "own");
    await mkdir(own);
    const model = { services: { web: { build: build(root) }, other: { image: "a" } } };
    const made: ComposeModel = await withOwnDockerfiles(systemFiles, model, own);
    const { web } = made["services"] as { web: { build: { dockerfile: string } } };
    await test(web.build.dockerfile, root);
  });
}

describe("withOwnDockerfiles()", () => {
  const TREE = {
    "Docker$file": "FROM a",
    "Docker$file.dockerignore": "x",
    "secret.env": "PASSWORD=of-another-stack",
    "web/Dockerfile": "FROM b",
    "low/dockerfile": "FROM c",
    "low/dockerfile.dockerignore": "y",
  };

  it("gives a build a copy of a Dockerfile outside of its context, and nothing of its directory", () =>
    given(TREE, (root) => ({
      context: join(root, "web"),
      dockerfile: "../Docker$$file",
    }), async (dockerfile, root) => {
      const [place, name] = [dirname(dockerfile), "Docker$file"];
      assert.equal(dirname(place), join(root, "own"));
      assert.ok(dockerfile.endsWith("/Docker$$file"));
      assert.deepEqual((await readdir(place)).sort(), [name, `${name}.dockerignore`]);
      assert.equal(await readFile(join(place, name), "utf8"), "FROM a");
    }));

  it("copies one of the context, too, also where buildx finds it in lower case, else hands over nothing", async () => {
    for (
      const [context, dockerfile, name, copied] of [
        ["web", "", "Dockerfile", ["Dockerfile"]],
        ["web", "Dockerfile", "Dockerfile", ["Dockerfile"]],
        ["web", "../low/Dockerfile", "dockerfile", ["dockerfile", "dockerfile.dockerignore"]],
        ["web", "../missing", "missing", []],
        ["web", "../secret.env/Dockerfile", "Dockerfile", []],
      ] as const
    ) {
      const build = (root: string) => ({ context: join(root, context), dockerfile });
      await given(TREE, build, async (found, root) => {
        assert.equal(found, join(root, "own/dockerfile-0", name));
        assert.deepEqual((await readdir(dirname(found))).sort(), copied);
      });
    }
  });

  it("refuses what is large together", async () => {
    const large = "#".repeat(9 * 1024 * 1024);
    const tree = { "Dockerfile": large, "Dockerfile.dockerignore": large };
    await assert.rejects(
      given(tree, (root) => ({ context: root }), () => assert.fail("it was copied")),
      { code: "build_failed", message: /^Dockerfile\.dockerignore cannot be copied .* 16 MiB/ },
    );
  });
});
