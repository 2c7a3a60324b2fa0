import { basename, join, posix, relative, resolve } from "node:path";
import {
  type DeclaredStack,
  isConfigFileName,
  MOST_BYTES,
  MOST_MORE,
  tooLongPath,
  validateCheckout,
} from "../config/mod.ts";
import { errors, formatProblem, messageOf, type Problem } from "../model/mod.ts";
import { checkSchedule, requireSupported } from "../plan/mod.ts";
import { parseReference } from "../source/mod.ts";
import { readFileNow, readText, systemClock, systemFiles, writtenSecrets } from "../system/mod.ts";
import { VariableReader } from "../settings/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";

/** `stackwright validate` */
export const validateCommand: Command = {
  help: `Usage: stackwright validate [--json] [directory]

Checks every .stackwright*.yaml of the checkout (the current directory unless given), or where there
is none .doco-cd*.yml: syntax, keys and values with their positions, that compose files and dotenv
files exist (but for stacks of another repository or reference), also those that compose files name,
names that occur twice; and with auto-discovery the directories it finds, each with the file of its
own merged. Of what compose files say it checks labels for Stackwright, misspelled keys, values of
image, build, command, environment and ports that no compose takes, that what services name is
defined (services, networks, volumes, configs, secrets) and no service whose profile is off, that
each is made from something, and that the files of configs and secrets and the directories to build
in exist, as far as the files tell; all else takes compose, and plan. Warns of what has no effect,
and of jobs while SCHEDULER_ENABLED is false.

Reads the files of all targets. Needs neither an engine nor a network, and knows no contexts, which
are of the machine that deploys: plan says where one is unknown. Honours DEPLOY_CONFIG_BASE_DIR.

Writes what it finds to standard output. Exits 0 when everything is right, 1 when something is not.
`,
  async run(io) {
    requireNoTarget(io.args);
    const { json, operands } = readArguments(io.args, 1);
    const root = resolve(io.cwd, operands[0] ?? ".");
    if ((await systemFiles.stat(root))?.kind !== "directory") {
      throw errors.not_found(`${root} is not a directory: name a checkout`);
    }
    const baseDir = (io.env["DEPLOY_CONFIG_BASE_DIR"] || ".").replace(/^\/+/, "") || ".";
    const { inside, links } = await placesIn(root);
    const read = async (file: string) => {
      const place = await inside(file);
      const text = place === undefined ? undefined : await textOf(file, place);
      // What is wrong is described with the values that are there.
      if (text !== undefined && text.length <= MOST_BYTES) {
        writtenSecrets(text).forEach((each) => io.redactor.add(each));
      }
      return text;
    };
    const result = await validateCheckout({
      name: basename(root),
      names: async () => {
        const place = await inside(baseDir, "directory");
        return place === undefined ? [] : await systemFiles.list(place);
      },
      exists: async (path) => await inside(path) !== undefined,
      holds: async (path) =>
        await inside(path) !== undefined ||
        await inside(path, "directory") !== undefined &&
          !(await filesBelow(root, path).next()).done,
      read,
      list: async (path) =>
        await inside(path, "directory") === undefined
          ? new Map()
          : new Map(await Array.fromAsync(filesBelow(root, path))),
    }, {
      baseDir,
      checkSchedule: (schedule) => checkSchedule(schedule, { now: systemClock.now() }),
      isSchedulerOff: !new VariableReader(io.env, readFileNow).boolean("SCHEDULER_ENABLED"),
    });
    const { files, stacks } = result;
    const warnings = [...result.warnings, ...[...links].map((file) => ({ file, message: LINK }))];
    const problems = [...result.problems, ...stacks.flatMap(notSupported)];
    const valid = problems.length === 0;
    const deployments = stacks.length;
    if (json) {
      io.out(JSON.stringify({ valid, files, deployments, problems, warnings }) + "\n");
    } else {
      // What is found is the result, as it is of doctor: a pipe or a file has to get it whole.
      for (const problem of problems) io.out(`${formatProblem(problem)}\n`);
      for (const warning of warnings) io.out(`warning: ${formatProblem(warning)}\n`);
      const count = `${counted(deployments, "deployment")} in ${files.join(", ") || "no file"}`;
      io.out(
        valid
          ? `valid: ${count}; docker compose decides the rest in plan\n`
          : `${counted(problems.length, "problem")} found\n`,
      );
    }
    return valid ? EXIT.ok : EXIT.failed;
  },
};

const LINK =
  "a link that is not followed: it leads to nothing of the checkout, or is a configuration";

/**
 * Finds files and directories of a checkout, with links resolved: its authors may put links there to
 * anything of this machine, `.git` with its credentials too, and what is wrong is told with values. As
 * the service does, takes no link for a configuration. Links that are asked for in vain are in `links`.
 */
async function placesIn(root: string) {
  const top = await systemFiles.realPath(root) ?? root;
  const links = new Set<string>();
  const inside = async (path: string, kind: "file" | "directory" = "file") => {
    if (tooLongPath(path) !== undefined) return undefined;
    const real = await systemFiles.realPath(join(top, path));
    const way = real === undefined ? [".."] : relative(top, real).split("/");
    const isOurs = !way.some((name) => name === ".." || name === ".git") &&
      (real === join(top, path) || !isConfigFileName(basename(path)));
    if (real !== undefined && isOurs) {
      return (await systemFiles.stat(real))?.kind === kind ? real : undefined;
    }
    if ((await systemFiles.stat(join(top, path)))?.kind === "symlink") links.add(path);
    return undefined;
  };
  return { inside, links };
}

/** The text of a file. Throws `config_invalid` for one that no deployment reads because of its size. */
async function textOf(file: string, place: string): Promise<string | undefined> {
  const most = MOST_BYTES + MOST_MORE;
  const size = (await systemFiles.stat(place))?.size ?? 0;
  if (size <= most) return await readText(systemFiles, place, most);
  const message = `the file has ${size} bytes, the most that is read is ${MOST_BYTES}`;
  throw errors.config_invalid(`${file}: ${message}`, { problems: [{ file, line: 1, message }] });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What would be refused on every engine: this version, or Git, could never deploy it. */
function notSupported({ deployment, place }: DeclaredStack): Problem[] {
  const { reference } = deployment;
  const tries = {
    source: () => requireSupported(deployment),
    reference: () => reference === "" || parseReference(reference),
  };
  return Object.entries(tries).flatMap(([field, attempt]) => {
    try {
      attempt();
      return [];
    } catch (error) {
      return [{ path: field, ...place(field), message: messageOf(error) }];
    }
  });
}

/** Every file and link below a directory of a checkout; git's own directory is none of its files. */
async function* filesBelow(root: string, directory: string) {
  const ahead = [directory];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    for (const name of await systemFiles.list(join(root, next))) {
      const path = posix.join(next, name);
      const kind = (await systemFiles.stat(join(root, path)))?.kind;
      if (kind === "directory") {
        if (name !== ".git" && name !== "node_modules") ahead.push(path);
      } else if (kind !== undefined) yield [path, { kind }] as const;
    }
  }
}

/** Throws `bad_request` to who names a target, as for plan and apply. */
function requireNoTarget(args: readonly string[]): void {
  if (!args.some((each) => /^--target(?:=|$)/.test(each))) return;
  throw errors.bad_request("validate reads the files of all targets: leave --target out");
}
