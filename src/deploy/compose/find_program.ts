import { join } from "node:path";
import { readClientConfig } from "../../docker/mod.ts";
import type { Files } from "../../system/mod.ts";
import { listOf, parseObject } from "../../model/mod.ts";

/** Plugin directories of docker, in this order, after those of its configuration. */
const SYSTEM_DIRECTORIES = [
  "/usr/local/lib/docker/cli-plugins",
  "/usr/local/libexec/docker/cli-plugins",
  "/usr/lib/docker/cli-plugins",
  "/usr/libexec/docker/cli-plugins",
] as const;

/**
 * The program to call with `compose …`: the plugin that docker would find, else docker itself. Docker
 * first starts every plugin for its metadata, then compose again: that takes as long as rendering.
 *
 * `env` is the program's environment. Called before each command, it finds a plugin that was replaced.
 */
export async function findComposeProgram(
  files: Files,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return await findPlugin(files, env, "docker-compose") ?? "docker";
}

/** Whether docker would find the plugin `buildx`; otherwise as {@link findComposeProgram}. */
export async function hasBuildx(
  files: Files,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  return await findPlugin(files, env, "docker-buildx") !== undefined;
}

async function findPlugin(
  files: Files,
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<string | undefined> {
  const configuration = clientConfiguration(env);
  const directories = [
    ...await extraDirectories(files, join(configuration, "config.json")),
    join(configuration, "cli-plugins"),
    ...SYSTEM_DIRECTORIES,
  ];
  for (const directory of directories) {
    const program = await pluginIn(files, directory, name);
    if (program !== undefined) return program;
  }
  return undefined;
}

/** The plugin in a directory; like docker, passes over a directory that cannot be read. */
async function pluginIn(files: Files, directory: string, name: string) {
  try {
    const program = await files.realPath(join(directory, name));
    const info = program === undefined ? undefined : await files.stat(program);
    return info?.kind === "file" && (info.mode & 0o111) !== 0 ? program : undefined;
  } catch {
    return undefined;
  }
}

/** `cliPluginsExtraDirs` of docker's configuration. */
async function extraDirectories(files: Files, configFile: string): Promise<string[]> {
  const text = await readClientConfig(files, configFile);
  return listOf(parseObject(text ?? "")["cliPluginsExtraDirs"])
    .filter((each) => typeof each === "string").filter((each) => each.startsWith("/"));
}

/** The directory of the engine client's configuration. */
export function clientConfiguration(env: Readonly<Record<string, string | undefined>>): string {
  return env["DOCKER_CONFIG"] ?? join(env["HOME"] ?? "/root", ".docker");
}
