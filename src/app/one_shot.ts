import { isAbsolute, resolve } from "node:path";
import {
  type RunReporter,
  type RunTarget,
  type SourceRequest,
  StackwrightError,
} from "../model/mod.ts";
import { createPipeline } from "../pipeline.ts";
import { type PlannedStacks, planSource } from "../pipeline/mod.ts";
import { parseRepositoryUrl, sourceLocation } from "../source/mod.ts";
import type { Assembly } from "./assemble.ts";
import type { System } from "./system.ts";

/** What a person wants looked at once. */
export interface OneShot {
  /** Directory of a checkout or of a bare repository, or URL of a repository. */
  readonly place: string;
  /** Working directory that `place` is relative to. */
  readonly cwd: string;
  /** Empty means `HEAD` of a directory and of a repository. */
  readonly reference: string;
  /** Configuration target; empty for the default file. */
  readonly target: string;
  /** Is told what is being done. */
  readonly watcher: Watcher;
}

/** Somebody who waits for the end. */
export interface Watcher {
  /** What is done as a whole. */
  step(text: string): void;
  /** What became of a target, or the step it is in. */
  target(entry: RunTarget): void;
}

/**
 * Plans every deployment of a source and changes nothing; `assembly` is one that only looks. One that
 * cannot be planned is in the answer, as a run isolates it; throws what reading the source and its
 * configuration throws.
 */
export async function planOnce(
  assembly: Assembly,
  system: System,
  wanted: OneShot,
  signal: AbortSignal,
): Promise<PlannedStacks> {
  const parts = await assembly.pipelineParts(signal);
  const request = await requestOf(system, wanted, signal);
  return await planSource(parts, { request, ...ONE_SHOT }, reporterTo(wanted.watcher), signal);
}

/** A person is behind it. */
const ONE_SHOT = { trigger: "poll", origin: "manual" } as const;

function reporterTo(watcher: Watcher): RunReporter {
  return {
    describe({ message }) {
      if (message !== undefined) watcher.step(message);
    },
    target: (entry) => watcher.target(entry),
  };
}

/** Deploys every deployment of a source once. */
export async function applyOnce(
  assembly: Assembly,
  system: System,
  wanted: OneShot,
  signal: AbortSignal,
): Promise<RunTarget[]> {
  const pipeline = createPipeline(await assembly.pipelineParts(signal));
  const request = await requestOf(system, wanted, signal);
  const targets = new Map<string, RunTarget>();
  const told = reporterTo(wanted.watcher);
  const reporter = {
    ...told,
    target(entry: RunTarget) {
      targets.set(`${entry.context}/${entry.stack}`, entry);
      told.target(entry);
    },
  };
  await pipeline.recover(signal);
  await pipeline.execute({ kind: "sync", ...ONE_SHOT, sources: [request] }, reporter, signal);
  return [...targets.values()];
}

/**
 * A checkout stands for the repository it was cloned from: its stacks are that repository's stacks,
 * so that a plan made from a checkout compares with what the service deployed.
 */
async function requestOf(
  system: System,
  { place, cwd, reference, target }: OneShot,
  signal: AbortSignal,
): Promise<SourceRequest> {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(place) || /^[^/\s]+@[^/\s]+:/.test(place);
  const url = isUrl || isAbsolute(place) ? place : resolve(cwd, place);
  const request = {
    kind: "git" as const,
    url,
    reference: reference || "HEAD",
    target,
    deployments: [],
  };
  if (parseRepositoryUrl(url).scheme !== "file" || isUrl) return request;
  const isBare = await git(system, url, ["rev-parse", "--is-bare-repository"], signal) === "true";
  // It has no working files, and stands for itself: where it was cloned from, it need not be like.
  if (isBare) return request;
  await warnOfUncommitted(system, url, signal);
  const origin = await git(system, url, ["config", "--get", "remote.origin.url"], signal);
  if (origin === "") return request;
  return { ...request, identity: sourceLocation("git", origin).name };
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
    throw new StackwrightError(
      "source_invalid",
      `${directory} is no Git repository: ${stderr.trim()}`,
    );
  }
  return code === 0 ? new TextDecoder().decode(stdout).trim() : "";
}
