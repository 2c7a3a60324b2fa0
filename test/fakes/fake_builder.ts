import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import { join, resolve } from "node:path";
import { COMPOSE_LABELS, messageOf } from "../../src/model/mod.ts";
import {
  type Command,
  type CommandResult,
  type Commands,
  systemCommands,
} from "../../src/system/mod.ts";

/** What compose gets of a project, as far as building goes. */
interface Built {
  readonly services: Readonly<
    Record<
      string,
      { image?: string; build?: { context: string; dockerfile?: string; tags?: readonly string[] } }
    >
  >;
}

/**
 * Programs of which `docker compose build` is no real one: BuildKit needs an engine that runs its
 * steps. Instead the fake engine is told of one image for each service, whose content is that of the
 * Dockerfile and of the context.
 */
export function createFakeBuilder(inner: Commands = systemCommands): Commands {
  return {
    start: (command) => inner.start(command),
    run: (command, signal) =>
      isBuild(command) ? build(command, signal) : inner.run(command, signal),
  };
}

function isBuild({ argv }: Command): boolean {
  return argv[1] === "compose" && argv.includes("build") && !argv.includes("config");
}

async function build(command: Command, signal: AbortSignal): Promise<CommandResult> {
  const { argv, env, stdin } = command;
  const model = JSON.parse(String(stdin)) as Built;
  const project = argv[argv.indexOf("--project-name") + 1] ?? "";
  const names = argv.slice(argv.indexOf("build") + 1).filter((each) => !each.startsWith("--"));
  try {
    for (const name of names) {
      const { image = `${project}-${name}`, build } = model.services[name] ?? {};
      if (build === undefined) throw new Error(`service ${name} has no build`);
      const built = {
        t: [image, ...build.tags ?? []],
        remote: await contentOf(build),
        labels: JSON.stringify({
          [COMPOSE_LABELS.project]: project,
          [COMPOSE_LABELS.service]: name,
        }),
      };
      await tellEngine(env["DOCKER_HOST"] ?? "", built, signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    return { code: 17, stdout: new Uint8Array(), stderr: messageOf(error) };
  }
  return { code: 0, stdout: new Uint8Array(), stderr: "" };
}

async function contentOf(
  { context, dockerfile = "Dockerfile" }: { context: string; dockerfile?: string },
): Promise<string> {
  const hash = createHash("sha256").update(await readFile(resolve(context, dockerfile)));
  const found = await readdir(context, { recursive: true, withFileTypes: true });
  const paths = found.filter((each) => each.isFile()).map((each) =>
    join(each.parentPath, each.name)
  );
  for (const path of paths.sort()) {
    hash.update(`\0${path.slice(context.length)}\0`).update(await readFile(path));
  }
  return hash.digest("hex");
}

/** Rejects when the engine refuses, or does not answer. */
function tellEngine(
  host: string,
  { t, ...built }: Readonly<Record<"remote" | "labels", string>> & {
    readonly t: readonly string[];
  },
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams(built);
  for (const tag of t) query.append("t", tag);
  const path = `/build?${query}`;
  return new Promise((done, reject) => {
    const socketPath = host.replace("unix://", "");
    const sent = request({ socketPath, path, method: "POST", signal }, (answer) => {
      answer.resume();
      answer.once("error", reject);
      answer.once("end", () => {
        if (answer.statusCode === 200) done();
        else reject(new Error(`the engine answered ${answer.statusCode} to a build of ${t[0]}`));
      });
    });
    sent.once("error", reject);
    sent.end();
  });
}
