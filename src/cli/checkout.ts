import { isAbsolute, resolve } from "node:path";
import type { SourceInput } from "../api/mod.ts";
import type { System } from "../app.ts";
import { type DeclaredDeployment, errors, utf8 } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { inlineDeploymentsFor, parseRepositoryUrl, sourceLocation } from "../source/mod.ts";
import type { Log } from "../system/mod.ts";
import type { Arguments } from "./arguments.ts";
import type { CommandIo } from "./io.ts";

/** A repository that a person names. */
interface Named {
  /** Directory of a checkout or of a bare repository, or URL of a repository. */
  readonly repository: string;
  /** Working directory that `repository` is relative to. */
  readonly cwd: string;
  /** Empty means `HEAD` of a directory and of a repository. */
  readonly reference: string;
  /** Configuration target; empty for the default file. */
  readonly target: string;
}

/** The repository that the first operand, `--ref` and `--target` name. */
export function namedBy(
  { cwd }: Pick<CommandIo, "cwd">,
  { operands, values }: Pick<Arguments, "operands" | "values">,
): Named {
  const { ref: reference = "", target = "" } = values;
  return { repository: operands[0] ?? ".", cwd, reference, target };
}

/**
 * A checkout stands for the repository it was cloned from: its stacks are that repository's stacks,
 * so that a plan made from a checkout compares with what the service deployed.
 *
 * Throws `source_invalid` for a directory that is no repository.
 */
export async function requestOf(
  system: System,
  { repository, cwd, reference, target }: Named,
  signal: AbortSignal,
): Promise<SourceInput> {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(repository) || /^[^/\s]+@[^/\s]+:/.test(repository);
  const url = isUrl || isAbsolute(repository) ? repository : resolve(cwd, repository);
  const request = { url, reference: reference || "HEAD", target };
  if (parseRepositoryUrl(url).scheme !== "file" || isUrl) return request;
  const isBare = await git(system, url, ["rev-parse", "--is-bare-repository"], signal) === "true";
  // A bare repository stands for itself: it may differ from the repository it was cloned from.
  if (isBare) return request;
  await warnOfUncommitted(system, url, signal);
  const origin = await git(system, url, ["config", "--get", "remote.origin.url"], signal);
  if (origin === "") return request;
  const isRelative = origin.startsWith("./") || origin.startsWith("../");
  const location = isRelative ? resolve(url, origin) : origin;
  return { ...request, identity: sourceLocation("git", location).name };
}

/**
 * The inline deployments of the operator's polls for a repository, which the service deploys instead of
 * its files; empty without any. Without `--ref` the reference of the polls counts, if they have one only.
 */
export function polledDeployments(
  { url, identity, reference, target = "" }: SourceInput,
  polls: Settings["polls"],
  log: Log,
): readonly DeclaredDeployment[] {
  const name = identity ?? sourceLocation("git", url).name;
  const said = polls.filter(({ request }) =>
    request.kind === "git" && request.target === target &&
    inlineDeploymentsFor([{ request }], name, request.reference, target).length > 0
  );
  const references = [...new Set(said.map(({ request }) => request.reference))];
  if (references.length === 0) return [];
  const [only = ""] = references;
  const asked = reference === "HEAD" && references.length === 1 ? only : reference;
  const found = inlineDeploymentsFor(said, name, asked, target);
  const polled = `the poll of ${name} (${references.join(", ")}) has deployments of its own`;
  if (found.length > 0) log.info(`${polled}: they are taken, as by the service`);
  else log.warning(`${polled}: this reads the files of the repository; name one by --ref`);
  return found;
}

async function warnOfUncommitted(system: System, directory: string, signal: AbortSignal) {
  const changed = await git(system, directory, ["status", "--porcelain"], signal);
  if (changed !== "") {
    system.log.warning(`${directory} has changes that are not committed: they are not looked at`);
  }
}

async function git(
  system: System,
  directory: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { code, stdout, stderr } = await system.commands.run({
    argv: ["git", "-C", directory, ...args],
    env: { PATH: system.env["PATH"] ?? "", HOME: system.env["HOME"] ?? "/", LC_ALL: "C" },
    timeoutMs: 30_000,
  }, signal);
  if (code > 1) {
    throw errors.source_invalid(
      `${directory} ${notRead(stderr.trim())}; what is committed there is looked at, so name a ` +
        "checkout, or make it one (git init, git add, git commit)",
    );
  }
  return code === 0 ? utf8(stdout).trim() : "";
}

function notRead(said: string): string {
  const reason = said.includes("dubious ownership")
    ? "it is another user's, which git config --global --add safe.directory DIRECTORY allows"
    : /^fatal: cannot change to [^]*: ([^:]+)$/.exec(said)?.[1];
  return reason === undefined ? `is no Git repository: ${said}` : `cannot be opened: ${reason}`;
}
