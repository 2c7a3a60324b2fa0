/** What compose takes for a Git repository has a name that is refused. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isFetched } from "../../src/config/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createComposeProgram } from "../fakes/compose_program.ts";
import { never } from "../fakes/git_source.ts";

const NAMES = [
  ...[
    "x/y.git",
    "y.git",
    "./y.git",
    "./x/y.git",
    "x/../y.git",
    "x//y.git",
    "sub/.git",
    "x_y/z.git",
  ],
  ...["x/y%2Egit", "x/y%2egit", "x/y.gi%74", "x/y.git?a", "x/y.git#b", "x/a?b.git", "x/a#b.git"],
  ...[
    "x/y.GIT",
    "x/y.git%23a",
    "a%2Fy.git",
    "y.git#a/b",
    "-x/y.git",
    "x/y.git.yaml",
    "x.git/c.yaml",
  ],
];

const TEXTS = {
  include: (name: string) => `include: [${JSON.stringify(name)}]\n`,
  extends: (name: string) =>
    `services: {b: {extends: {file: ${JSON.stringify(name)}, service: b}}}\n`,
};

for (const plugin of composePlugins()) {
  describe(`names of compose files that look like repositories, ${plugin || "installed"}`, () => {
    let directory: string;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), "swt-git-names-"));
      for (const path of NAMES.flatMap((name) => [name, join("far", name)])) {
        const file = `${directory}/${path}`;
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, "services: {b: {image: plain}}\n");
      }
    });
    after(() => rm(directory, { recursive: true, force: true }));

    for (const key of ["include", "extends"] as const) {
      it(`are read as files by ${key} where they are not refused, also by a file elsewhere`, async () => {
        const command = await createComposeCommand(plugin);
        const compose = createComposeProgram(command, directory);
        const fails: string[] = [];
        for (const name of NAMES.filter((each) => !isFetched(each, key))) {
          await writeFile(`${directory}/compose.yaml`, TEXTS[key](name));
          await writeFile(`${directory}/far/compose.yaml`, TEXTS[key](name));
          await writeFile(`${directory}/by.yaml`, TEXTS[key]("far/compose.yaml"));
          for (const file of ["compose.yaml", "by.yaml"]) {
            const files = [join(directory, file)];
            const project = { name: "x", directory, files, envFiles: [], profiles: [] };
            await compose.render({ project, variables: {} }, never())
              .catch((error) => fails.push(`${file} by ${name}: ${error}`));
          }
        }
        await command.close();
        assert.deepEqual(fails, []);
      });
    }
  });
}
