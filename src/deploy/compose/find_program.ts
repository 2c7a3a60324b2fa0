import { join } from "node:path";
import { type Files, readText } from "../../system/mod.ts";
import { listOf, parseObject } from "../../model/mod.ts";

/** Where docker looks for plugins after the directories of its configuration, in this order. */
const SYSTEM_DIRECTORIES = [
  "/usr/local/lib/docker/cli-plugins",
  "/usr/local/libexec/docker/cli-plugins",
  "/usr/lib/docker/cli-plugins",
  "/usr/libexec/docker/cli-plugins",
] as const;

/**
 * The program to call with `compose …`: the plugin that docker would find, else docker itself. Docker
 * first starts every plugin to ask what it is, and then compose a second time, which takes as long
 * as rendering a small project.
 *
 * `env` is the environment the program gets. May be called before each command: a plugin that was
 * replaced in the meantime is found.
 */
export async function findComposeProgram(
  files: Files,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const configuration = env["DOCKER_CONFIG"] ?? join(env["HOME"] ?? "/root", ".docker");
  const directories = [
    ...await extraDirectories(files, join(configuration, "config.json")),
    join(configuration, "cli-plugins"),
    ...SYSTEM_DIRECTORIES,
  ];
  for (const directory of directories) {
    const program = await pluginIn(files, directory);
    if (program !== undefined) return program;
  }
  return "docker";
}

/** A directory that this user may not look into has nothing for it; docker passes over it as well. */
async function pluginIn(files: Files, directory: string): Promise<string | undefined> {
  try {
    const program = await files.realPath(join(directory, "docker-compose"));
    const info = program === undefined ? undefined : await files.stat(program);
    return info?.kind === "file" && (info.mode & 0o111) !== 0 ? program : undefined;
  } catch {
    return undefined;
  }
}

/** `cliPluginsExtraDirs` of docker's configuration; what cannot be read is docker's to complain about. */
async function extraDirectories(files: Files, configFile: string): Promise<string[]> {
  const text = await readText(files, configFile).catch(() => undefined);
  return listOf(parseObject(text ?? "")["cliPluginsExtraDirs"])
    .filter((each) => typeof each === "string").filter((each) => each.startsWith("/"));
}
