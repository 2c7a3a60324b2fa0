/** No variable of a repository is what compose takes for the directory that it reads files from. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { isStackwrightError } from "../../src/model/mod.ts";
import { renderProject } from "../../src/prepare/render_project.ts";
import type { Target } from "../../src/prepare/target.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createComposeProgram } from "../fakes/compose_program.ts";

/** Leads to wherever compose runs, and is `/` with enough `..` behind it. */
const ANYWHERE = "/proc/self/cwd";
const { signal } = new AbortController();

/**
 * Renders a project whose include reads a dotenv file by a path that compose takes, as text, from where it
 * says that it runs. Returns the label that tells which file that was, and `PWD`.
 */
async function rendered(plugin: string, variables: Record<string, string>, dotenv: string) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "swt-directory-")));
  const command = await createComposeCommand(plugin);
  const tree = join(root, "tree");
  const include = (path: string, more = "") => `include: [{ path: ${path}${more} }]\n`;
  const files = {
    [join(root, "host.env")]: "WHERE=host\n",
    [join(tree, "a", root, "host.env")]: "WHERE=repository\n",
    [join(tree, "a/b/c/d/.env")]: dotenv,
    [join(tree, "a/b/c/d/compose.yaml")]: include("sub/one.yaml"),
    [join(tree, "a/b/c/d/sub/one.yaml")]: include(
      "two.yaml",
      `, env_file: ../../../..${root}/host.env`,
    ),
    [join(tree, "a/b/c/d/sub/two.yaml")]:
      "services: { web: { image: a, labels: { where: '${WHERE}<${PWD}>' } } }\n",
  };
  try {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const project = renderProject(
      { key: { name: "shop" }, deployment: { workingDir: "a/b/c/d" } } as unknown as Target,
      { tree },
      ["a/b/c/d/compose.yaml"],
      { environment: {}, envFiles: ["a/b/c/d/.env"], profiles: [], secretVariables: [] },
    );
    const model = await createComposeProgram(command, root).render({ project, variables }, signal);
    const { web } = model["services"] as { web: { labels: { where: string } } };
    return web.labels.where;
  } finally {
    await command.close();
    await rm(root, { recursive: true, force: true });
  }
}

for (const plugin of composePlugins()) {
  describe(`the directory that compose says it runs in, ${plugin || "installed"}`, () => {
    it("is none that a repository names: that is refused, and reads nothing of the host", async () => {
      await assert.rejects(rendered(plugin, { PWD: ANYWHERE }, ""), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.match(error.message, /PWD .* is an absolute path/);
        return true;
      });
    });

    it("is none of a dotenv file, which versions of compose take into their environment", async () => {
      const others = ["HOME", "OLDPWD", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "GIT_DIR"];
      const dotenv = ["PWD", ...others].map((name) => `${name}=${ANYWHERE}\n`).join("");
      assert.equal(await rendered(plugin, {}, dotenv), "repository<>");
    });

    it("is none of other names that a deployment may set", async () => {
      const names = ["OLDPWD", "CWD", "GOPATH", "GOROOT", "GOTMPDIR", "GIT_DIR", "TMP", "TEMP"];
      const variables = Object.fromEntries(names.map((name) => [name, ANYWHERE]));
      assert.equal(await rendered(plugin, variables, ""), "repository<>");
    });

    it("is not told by a PWD that is no absolute path, which is interpolated", async () => {
      const PWD = ANYWHERE.slice(1);
      assert.equal(await rendered(plugin, { PWD }, ""), `repository<${PWD}>`);
    });
  });
}
