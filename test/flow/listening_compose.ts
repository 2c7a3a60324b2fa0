import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { findComposeProgram } from "../../src/deploy/mod.ts";
import { systemFiles } from "../../src/system/mod.ts";
import { composePlugins } from "../fakes/compose_command.ts";

/** One start of compose: what it was to do, and the names of the variables it was started with. */
export interface Started {
  /** Name of the program that started it. */
  readonly by: string;
  readonly args: string;
  readonly names: readonly string[];
}

/** What every start of compose may have of ours. */
export const OURS: RegExp = new RegExp(
  "^(?:PATH|HOME|TMPDIR|XDG_RUNTIME_DIR|SSL_CERT_(?:FILE|DIR)|PWD|SHLVL|_|OLDPWD" +
    "|DOCKER_(?:HOST|CONFIG|API_VERSION|CERT_PATH|TLS_VERIFY|CLI_PLUGIN_ORIGINAL_CLI_COMMAND)" +
    "|COMPOSE_EXPERIMENTAL_(?:GIT|OCI)_REMOTE|BUILDX_(?:BAKE_ENTITLEMENTS_FS|CONFIG|GIT_INFO)" +
    "|BUILDKIT_NO_CLIENT_TOKEN|GIT_DIR|GOGC|GOMEMLIMIT|STACKWRIGHT_VALUE_[A-Z_]*)$",
);

/** What a dotenv file of an attacker sets; all of it may be used inside a container. */
export const STEERING: Readonly<Record<string, string>> = {
  AWS_CONFIG_FILE: "/evil/aws",
  AWS_REGION: "eu-central-1",
  BASH_ENV: "/evil/bash",
  BUILDX_BUILDER: "evil",
  DOCKER_HOST: "tcp://127.0.0.1:9",
  GODEBUG: "x=1",
  HTTPS_PROXY: "http://127.0.0.1:9",
  LD_PRELOAD: "/evil/lib.so",
  SSL_CERT_FILE: "/evil/ca.pem",
};

/** A compose that writes down what it is started with, and then is the real one. */
export interface ListeningCompose {
  /** Its starts since this was asked last. */
  readonly started: () => Promise<Started[]>;
}

/**
 * Makes a compose plugin that listens in `directory`, a value of `DOCKER_CONFIG`. It is a script of bash
 * where there is one, which reads more from its variables than other shells do.
 */
export async function listeningCompose(directory: string): Promise<ListeningCompose> {
  const real = composePlugins()[0] || await findComposeProgram(systemFiles, process.env);
  const record = join(directory, "calls");
  const program = join(directory, "cli-plugins/docker-compose");
  const shell = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const note = 'read -r by < "/proc/$PPID/comm"; echo "started by $by: $*"; /usr/bin/env';
  await mkdir(join(directory, "cli-plugins"), { recursive: true });
  await writeFile(program, `#!${shell}\n{ ${note}; } >> '${record}'\nexec '${real}' "$@"\n`);
  await chmod(program, 0o755);
  // A newer compose builds only with the buildx that belongs to it, which lies beside it.
  const [given = ""] = composePlugins();
  const buildx = join(dirname(given), "docker-buildx");
  if (given !== "" && existsSync(buildx)) {
    await symlink(buildx, join(directory, "cli-plugins/docker-buildx"));
  }
  return {
    started: async () => {
      const text = await readFile(record, "utf8").catch(() => "");
      await rm(record, { force: true });
      return text.split(/^started by (?=.*: compose --ansi)/m).slice(1).map((call) => {
        const [first = "", ...lines] = call.split("\n");
        const [, by = "", args = ""] = /^(.*?): (.*)$/.exec(first) ?? [];
        const names = lines.filter((line) => line.includes("=")).map((line) => line.split("=")[0]);
        return { by, args, names: names.filter((name) => name !== undefined) };
      });
    },
  };
}

/** What compose was started for. */
export function subcommand({ args }: Pick<Started, "args">): string {
  return / (config|pull|build|up)(?: |$)/.exec(args)?.[1] ?? "";
}
