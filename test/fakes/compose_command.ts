import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

/** How a compose call ended. */
export interface ComposeResult {
  readonly code: number;
  /** Standard output and error as they came. */
  readonly output: string;
}

/** One compose plugin, with a Docker configuration directory of its own. */
export interface ComposeCommand {
  /** For test titles: the plugin file, or `installed`. */
  readonly title: string;
  /** Value of `DOCKER_CONFIG` that selects this plugin. */
  readonly configDirectory: string;
  /** Runs `docker compose …` against an engine with `model` (YAML or JSON) on standard input. */
  run(
    host: string,
    args: readonly string[],
    model?: string,
    env?: Readonly<Record<string, string>>,
  ): Promise<ComposeResult>;
  close(): Promise<void>;
}

/** Plugin files named by `COMPOSE_PLUGINS` (colon separated); empty stands for the installed one. */
export function composePlugins(): string[] {
  const files = (process.env["COMPOSE_PLUGINS"] ?? "").split(":").filter((file) => file !== "");
  return files.length === 0 ? [""] : files;
}

/** Makes a compose command that uses `plugin`; the installed one when it is empty. */
export async function createComposeCommand(plugin: string): Promise<ComposeCommand> {
  const configDirectory = await fs.mkdtemp(join(tmpdir(), "swt-compose-"));
  if (plugin !== "") {
    await fs.mkdir(join(configDirectory, "cli-plugins"));
    await fs.symlink(plugin, join(configDirectory, "cli-plugins", "docker-compose"));
    // A newer compose builds only with the buildx that belongs to it, which lies beside it.
    const buildx = join(dirname(plugin), "docker-buildx");
    if (existsSync(buildx)) {
      await fs.symlink(buildx, join(configDirectory, "cli-plugins", "docker-buildx"));
    }
  }
  return {
    title: plugin === "" ? "installed" : plugin,
    configDirectory,
    run: (host, args, model = "", env = {}) =>
      runCompose(args, model, {
        PATH: process.env["PATH"] ?? "",
        HOME: configDirectory,
        DOCKER_CONFIG: configDirectory,
        DOCKER_HOST: host,
        ...env,
      }),
    close: () => fs.rm(configDirectory, { recursive: true, force: true }),
  };
}

function runCompose(
  args: readonly string[],
  model: string,
  env: Readonly<Record<string, string>>,
): Promise<ComposeResult> {
  return new Promise((resolve, reject) => {
    const child = spawn("docker", ["compose", ...args], { env: { ...env } });
    const chunks: string[] = [];
    child.stdout.on("data", (chunk) => chunks.push(String(chunk)));
    child.stderr.on("data", (chunk) => chunks.push(String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, output: chunks.join("") }));
    child.stdin.on("error", () => {});
    child.stdin.end(model);
  });
}
