import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env } from "node:process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import type { Deployment, Revision } from "../../src/model/mod.ts";
import { composeInputs } from "../../src/prepare/compose_files.ts";
import type { PrepareParts } from "../../src/prepare/parts.ts";
import { createTurns, systemClock } from "../../src/system/mod.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { GuardWorld } from "./guard_world.ts";

const run = promisify(execFile);

/** Compose files that include each other, the last but one with a dotenv file of the last. */
function including(directories: readonly string[], dotenv: string): Map<string, string> {
  const files = new Map<string, string>();
  let place = "app";
  directories.forEach((each, at) => {
    const last = at === directories.length - 1 ? `, env_file: ${dotenv}` : "";
    files.set(`${place}/compose.yaml`, `include: [{ path: ${each}/compose.yaml${last} }]\n`);
    place = `${place}/${each}`;
  });
  return files.set(`${place}/compose.yaml`, "services: { web: { image: 'x:${WHERE:-none}' } }\n");
}

async function inputsOf(files: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const kinds = new Map([...files.keys()].flatMap((path) => {
    const around = path.split("/").map((_, at, all) => all.slice(0, at).join("/"));
    return [[path, "file"] as const, ...around.map((each) => [each, "directory"] as const)];
  }));
  const source = {
    entries: (_: Revision, paths: readonly string[]) =>
      Promise.resolve(
        new Map(paths.flatMap((path) => {
          const kind = kinds.get(path);
          return kind === undefined ? [] : [[path, { kind, id: path }]];
        })),
      ),
    read: (_: Revision, path: string) => {
      const text = files.get(path);
      return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
    },
  };
  const parts = { source, turns: createTurns(systemClock) } as unknown as PrepareParts;
  const deployment = { name: "x", workingDir: "app", composeFiles: ["compose.yaml"], envFiles: [] };
  const { paths } = await composeInputs(
    parts,
    { revision: {} as Revision, deployment: deployment as unknown as Deployment, owner: "" },
    new AbortController().signal,
  );
  return paths;
}

for (const plugin of composePlugins()) {
  describe(`a dotenv file that an included file names for an include, ${plugin || "installed"}`, () => {
    for (
      const [directories, dotenv] of [
        [["a"], "x.env"],
        [["a", "b"], "x.env"],
        [["a", "b"], "../x.env"],
        [["a", "b", "c"], "x.env"],
        [["a", "b", "c"], "../x.env"],
        [["a", "b", "c", "d"], "x.env"],
      ] as const
    ) {
      it(`is an input where compose reads it: ${dotenv} ${directories.length} deep`, async () => {
        const files = including(directories, dotenv);
        const inputs = await inputsOf(files);
        const root = await mkdtemp(join(tmpdir(), "swt-includes-"));
        const compose = await createComposeCommand(plugin);
        try {
          const places = ["app", "app/a", "app/a/b", "app/a/b/c", "app/b", "app/c", "app/b/c"];
          const all = new Map([
            ...files,
            ...places.map((each) => [`${each}/x.env`, `WHERE=${each.replaceAll("/", "-")}\n`]),
          ] as [string, string][]);
          for (const [path, text] of all) {
            await mkdir(join(root, dirname(path)), { recursive: true });
            await writeFile(join(root, path), text);
          }
          const directory = join(root, "app");
          const { stdout } = await run("docker", [
            ...["compose", "--project-directory", directory, "--env-file", "/dev/null"],
            ...["--file", join(directory, "compose.yaml"), "config", "--images"],
          ], {
            cwd: directory,
            env: { PATH: env["PATH"] ?? "", DOCKER_CONFIG: compose.configDirectory },
          });
          const where = /^x:(app[a-c-]*)$/m.exec(stdout)?.[1];
          assert.ok(where !== undefined, stdout);
          const read = `${where.replaceAll("-", "/")}/x.env`;
          assert.ok(inputs.includes(read), `${read} is not among ${inputs.join(", ")}`);
        } finally {
          await compose.close();
          await rm(root, { recursive: true, force: true });
        }
      });
    }

    it("is refused where it lies outside the repository, from wherever compose takes it", async () => {
      const command = await createComposeCommand(plugin);
      const environment = { DOCKER_CONFIG: command.configDirectory };
      const world = new GuardWorld(tmpdir(), ["docker", "compose"], environment);
      try {
        for (const dotenv of ["../../../a.env", "../../../../a.env"]) {
          const files = including(["a", "b", "c"], dotenv).set("app/a.env", "");
          const { end, message } = await world.try(files);
          assert.deepEqual([end, /outside the repository/.test(message)], ["refused", true]);
        }
      } finally {
        world.close();
        await command.close();
      }
    });
  });
}
