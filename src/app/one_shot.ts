import { isAbsolute, resolve } from "node:path";
import {
  type Plan,
  type RunTarget,
  type SourceLocation,
  type SourceRequest,
  stackKey,
  StackwrightError,
} from "../model/mod.ts";
import { createPipeline } from "../pipeline.ts";
import { planTarget, readDeployments, shownModel } from "../pipeline/mod.ts";
import { parseRepositoryUrl, sourceLocation } from "../source/mod.ts";
import type { Assembly } from "./assemble.ts";
import type { System } from "./system.ts";

/** What a person wants looked at once. */
export interface OneShot {
  /** Directory of a checkout, or URL of a repository. */
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
  /** What is done to one stack. */
  stack(name: string, text: string): void;
  /** A target whose entry changed. */
  target(entry: RunTarget): void;
}

/** The plan of one stack, with the models it was made from as masked texts. */
export interface PlannedStack {
  readonly context: string;
  readonly name: string;
  readonly id: string;
  readonly plan: Plan;
  /** Empty when nothing is deployed. */
  readonly before: string;
  readonly after: string;
}

/** Plans every deployment of a source and changes nothing. Throws what the pipeline's steps throw. */
export async function planOnce(
  assembly: Assembly,
  system: System,
  wanted: OneShot,
  signal: AbortSignal,
): Promise<PlannedStack[]> {
  const parts = await assembly.pipelineParts(signal);
  const { location, request } = await requestOf(system, wanted, signal);
  const depth = parts.options.cloneDepth;
  const revisionAt = (reference: string) => {
    wanted.watcher.step(`resolving ${reference} of ${location.name}`);
    return parts.source.resolve({ location, reference, depth }, signal);
  };
  const revision = await revisionAt(request.reference);
  const stacks: PlannedStack[] = [];
  for (const declared of await readDeployments(parts, request, revision, signal)) {
    const { deployment } = declared;
    const key = stackKey(deployment.context, deployment.name);
    const { id, plan, release, recorded } = await planTarget(parts, {
      key,
      declared,
      deployment,
      revision: deployment.reference === "" ? revision : await revisionAt(deployment.reference),
      configTarget: wanted.target,
      trigger: "poll",
      origin: "manual",
      progress: (step) => wanted.watcher.stack(key.name, step),
    }, signal);
    const before = recorded === undefined ? "" : shownModel(parts, parts.ledger.open(recorded));
    stacks.push({ ...key, id, plan, before, after: shownModel(parts, release) });
  }
  return stacks;
}

/** Deploys every deployment of a source once. */
export async function applyOnce(
  assembly: Assembly,
  system: System,
  wanted: OneShot,
  signal: AbortSignal,
): Promise<RunTarget[]> {
  const pipeline = createPipeline(await assembly.pipelineParts(signal));
  const { request } = await requestOf(system, wanted, signal);
  const targets = new Map<string, RunTarget>();
  const reporter = {
    describe({ message }: { readonly message?: string }) {
      if (message !== undefined) wanted.watcher.step(message);
    },
    target(entry: RunTarget) {
      targets.set(`${entry.context}/${entry.stack}`, entry);
      wanted.watcher.target(entry);
    },
  };
  await pipeline.recover(signal);
  await pipeline.execute(
    { trigger: "poll", origin: "manual", sources: [request] },
    reporter,
    signal,
  );
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
): Promise<{ location: SourceLocation; request: SourceRequest }> {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(place) || /^[^/\s]+@[^/\s]+:/.test(place);
  const url = isUrl || isAbsolute(place) ? place : resolve(cwd, place);
  const local = sourceLocation("git", url);
  const request = {
    kind: "git" as const,
    url,
    reference: reference || "HEAD",
    target,
    deployments: [],
  };
  if (parseRepositoryUrl(url).scheme !== "file" || isUrl) return { location: local, request };
  await warnOfUncommitted(system, url, signal);
  const origin = await git(system, url, ["config", "--get", "remote.origin.url"], signal);
  if (origin === "") return { location: local, request };
  const identity = sourceLocation("git", origin).name;
  return { location: { ...local, name: identity }, request: { ...request, identity } };
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
      `${directory} is no Git checkout: ${stderr.trim()}`,
    );
  }
  return code === 0 ? new TextDecoder().decode(stdout).trim() : "";
}
