import { dirname, isAbsolute, join, resolve } from "node:path";
import type { SourceInput } from "../api/mod.ts";
import type { System } from "../app.ts";
import { errors, type SourceRequest, type StackwrightError, utf8 } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import {
  configEnvironment,
  fullReference,
  parseRepositoryUrl,
  requestsFor,
  sourceLocation,
} from "../source/mod.ts";
import type { Log } from "../system/mod.ts";
import type { Arguments } from "./arguments.ts";
import type { CommandIo } from "./io.ts";

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

/** A reference to deploy, by inline deployments, by the repository's files or by both: a name is once in them. */
type PolledSource = Pick<SourceRequest, "reference" | "deployments" | "withFiles">;

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
  const top = await checkoutAround(system, url);
  // A bare repository stands for itself: it may differ from the repository it was cloned from.
  if (top === undefined) {
    const said = await git(system, url, ["--git-dir=.", ...IS_BARE], signal);
    if (said !== "true") throw notRead(url, "its config does not say that it is bare");
    return request;
  }
  // The only call that looks for a repository: git looks whose it is, as well (`safe.directory`).
  const isBare = await git(system, top, IS_BARE, signal) === "true";
  if (isBare) return { ...request, url: top };
  const { origin, filters } = await configurationOf(system, top, signal);
  await warnOfUnknown(system, top, filters, signal);
  if (origin === "") return { ...request, url: top };
  const isRelative = origin.startsWith("./") || origin.startsWith("../");
  const location = isRelative ? resolve(top, origin) : origin;
  return { ...request, url: top, identity: sourceLocation("git", location).name };
}

/**
 * The top of the checkout that a directory lies in: the nearest one with a `.git`, which no commit can
 * bring. Git itself also takes files of a commit for a repository (`HEAD`, `objects`, `refs`), runs what
 * their `config` names, and would be told there whose stacks these are.
 *
 * Throws `source_invalid` for such a place in a checkout: it is not known which one is meant.
 */
async function checkoutAround({ files }: System, directory: string): Promise<string | undefined> {
  const real = await files.realPath(directory).catch(() => undefined);
  // Not in a `.git` either: a person put there what is there.
  if (real === undefined || real.split("/").includes(".git")) return undefined;
  const has = async (place: string, name: string) =>
    await files.stat(join(place, name)).catch(() => undefined) !== undefined;
  if (await has(real, ".git")) return directory;
  let at = dirname(real);
  while (!await has(at, ".git")) {
    if (at === dirname(at)) return undefined;
    at = dirname(at);
  }
  const parts = await Promise.all(["HEAD", "objects", "refs"].map((each) => has(real, each)));
  if (!parts.every(Boolean)) return at;
  throw errors.source_invalid(
    `${directory} looks like a bare repository and lies in the checkout ${at}: name that one, ` +
      `or file://${real} for what is in the bare one`,
  );
}

/**
 * What the service deploys of a repository by the operator's polls: for each reference the inline
 * deployments of its entries, and the repository's files where an entry has none. Without a poll, and for
 * a reference that no poll has, its files.
 * Without `--ref` a URL stands for the references of all its polls, and a checkout for the only one.
 */
export function polledSources(
  { url, identity, reference, target = "" }: SourceInput,
  polls: Settings["polls"],
  log: Log,
): PolledSource[] {
  const name = identity ?? sourceLocation("git", url).name;
  const said = requestsFor(polls, name, { target }).filter(({ kind }) => kind === "git");
  const isCheckout = identity !== undefined || isAbsolute(url);
  const references = [...new Set(said.map((each) => fullReference("git", each.reference)))];
  const asked = reference !== "HEAD"
    ? [reference]
    : isCheckout && references.length > 1
    ? []
    : references;
  const found = asked.flatMap((each): PolledSource[] => {
    const own = requestsFor(polls, name, { reference: each, target });
    if (own.length === 0) return [];
    const deployments = own.flatMap((request) => request.deployments);
    const withFiles = own.some((request) => request.deployments.length === 0);
    return [{ reference: isCheckout ? reference : each, deployments, withFiles }];
  });
  const inline = said.filter(({ deployments }) => deployments.length > 0);
  if (inline.length > 0) {
    const where = [...new Set(inline.map((each) => each.reference))].join(", ");
    const polled = `the poll of ${name} (${where}) has deployments of its own`;
    if (found.some(({ deployments }) => deployments.length > 0)) {
      log.info(`${polled}: they are taken, as by the service`);
    } else log.warning(`${polled}: this reads the files of the repository; name one by --ref`);
  }
  return found.length === 0 ? [{ reference, deployments: [] }] : found;
}

/** Asks whether a repository is a bare one; runs nothing that a configuration names. */
const IS_BARE = ["rev-parse", "--is-bare-repository"];

/** Arguments for git to take a directory for the top of a checkout, without having to look for it. */
const HERE = ["--git-dir=.git", "--work-tree=."];

/** What a checkout says of its origin, and what it and its owner's configuration name as filters. */
async function configurationOf(system: System, top: string, signal: AbortSignal) {
  const args = [...HERE, "config", "--list", "--null", "--show-scope"];
  const found = { origin: "", filters: new Set<string>() };
  for (
    const [, scope = "", key = "", value = ""] of (await git(system, top, args, signal)).matchAll(
      /([^\0]*)\0([^\0\n]*)\n?([^\0]*)\0/g,
    )
  ) {
    const isOwn = scope === "local" || scope === "worktree";
    if (isOwn && key === "remote.origin.url") found.origin = value;
    const [, filter] = /^filter\.([^]*)\.(?:clean|process|required)$/.exec(key) ?? [];
    if (filter !== undefined) found.filters.add(filter);
  }
  return found;
}

/** Warns of what the repository has not got, which deploys from it put back: what is not committed, or not pushed. */
async function warnOfUnknown(
  system: System,
  top: string,
  filters: Iterable<string>,
  signal: AbortSignal,
) {
  const off = [...filters].flatMap((each) =>
    [["clean", ""], ["process", ""], ["required", "false"]].map(([key, value]) =>
      [`filter.${each}.${key}`, value ?? ""] as const
    )
  );
  // Submodules have configurations of their own, and renames are told from files that may have to be fetched.
  const args = [
    ...HERE,
    "status",
    "-b",
    "--porcelain",
    "--ignore-submodules=dirty",
    "--no-renames",
  ];
  const said = await git(system, top, args, signal, configEnvironment(off));
  const [branch = "", ...changed] = said.split("\n");
  if (changed.length > 0) {
    system.log.warning(`${top} has changes that are not committed: they are not looked at`);
  }
  if (/^## \S+\.\.\.origin\/\S+ \[ahead /.test(branch)) {
    system.log.warning(
      `${top} has commits that were not pushed to its origin: a poll or webhook of that puts back what ` +
        "is deployed of them",
    );
  }
}

/**
 * Nothing that git would run: what a person configured for himself counts (whose directories are safe,
 * which files are ignored), and the checkout's configuration only where it names no program.
 */
const NO_PROGRAMS = [
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "safe.bareRepository=explicit"],
];

async function git(
  system: System,
  directory: string,
  args: readonly string[],
  signal: AbortSignal,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await system.commands.run({
    argv: ["git", ...NO_PROGRAMS, "-C", directory, ...args],
    env: {
      PATH: system.env["PATH"] ?? "",
      HOME: system.env["HOME"] ?? "/",
      LC_ALL: "C",
      GIT_ALLOW_PROTOCOL: "none",
      GIT_NO_LAZY_FETCH: "1",
      GIT_OPTIONAL_LOCKS: "0",
      ...settings,
    },
    timeoutMs: 30_000,
  }, signal);
  if (code > 1) throw notRead(directory, stderr.trim());
  return code === 0 ? utf8(stdout).trim() : "";
}

function notRead(directory: string, said: string): StackwrightError {
  const reason = said.includes("dubious ownership")
    ? "it is another user's, which git config --global --add safe.directory DIRECTORY allows"
    : /^fatal: cannot change to [^]*: ([^:]+)$/.exec(said)?.[1];
  const why = reason === undefined
    ? `is no Git repository: ${said}`
    : `cannot be opened: ${reason}`;
  return errors.source_invalid(
    `${directory} ${why}; what is committed there is looked at, so name a checkout, or make it ` +
      "one (git init, git add, git commit)",
  );
}
