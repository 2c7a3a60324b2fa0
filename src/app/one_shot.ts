import { isAbsolute, resolve } from "node:path";
import { observe } from "../deploy/mod.ts";
import {
  type Plan,
  type Revision,
  type RunTarget,
  type SourceRequest,
  type StackKey,
  stackKey,
  StackwrightError,
  toStackwrightError,
} from "../model/mod.ts";
import { createPipeline } from "../pipeline.ts";
import {
  deployedRevision,
  expandDeployments,
  type ExpandedDeployment,
  type ObsoleteRun,
  type PipelineParts,
  planDestroy,
  planObsolete,
  planTarget,
  readDeployments,
  requestLocation,
  resolveRequest,
} from "../pipeline/mod.ts";
import { shownModel } from "../prepare/mod.ts";
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

/** A stack that cannot be planned, and keeps no other from it. */
export interface UnplannedStack {
  readonly context: string;
  readonly name: string;
  readonly error: StackwrightError;
}

/** The plans of a source. */
export interface PlannedStacks {
  readonly stacks: readonly PlannedStack[];
  readonly failures: readonly UnplannedStack[];
}

/**
 * Plans every deployment of a source and changes nothing. One that cannot be planned is in the
 * answer, as a run isolates it; throws what reading the source and its configuration throws.
 */
export async function planOnce(
  assembly: Assembly,
  system: System,
  wanted: OneShot,
  signal: AbortSignal,
): Promise<PlannedStacks> {
  const parts = await assembly.pipelineParts(signal);
  const request = await requestOf(system, wanted, signal);
  const { watcher } = wanted;
  watcher.step(`resolving ${request.reference} of ${requestLocation(request).name}`);
  const configuration = await resolveRequest(parts, request, 0, signal);
  const declared = await readDeployments(parts, request, configuration, signal);
  const expansion = await expandDeployments(parts, { request, declared, configuration }, signal);
  const failures: UnplannedStack[] = expansion.failures.map(({ key, error }) => ({
    ...key,
    error,
  }));
  const run = { request, configuration, expansion, ...ONE_SHOT };
  const stacks = await planRemovals(parts, run, signal);
  for (const each of expansion.deployments) {
    const { context, name } = each.declared.deployment;
    try {
      stacks.push(
        await planDeployment(parts, { ...each, request, configuration, watcher }, signal),
      );
    } catch (thrown) {
      signal.throwIfAborted();
      failures.push({ ...stackKey(context, name), error: toStackwrightError(thrown, name) });
    }
  }
  return { stacks, failures };
}

/** A person is behind it. */
const ONE_SHOT = { trigger: "poll", origin: "manual" } as const;

async function planRemovals(
  parts: PipelineParts,
  run: ObsoleteRun,
  signal: AbortSignal,
): Promise<PlannedStack[]> {
  const stacks: PlannedStack[] = [];
  for (const removal of (await planObsolete(parts, run, signal)).removals) {
    const { stack: { key, directory }, removeVolumes } = removal;
    const observed = await observe(parts.engine, key, signal);
    const because = `nothing names it any more: it was discovered in ${directory}`;
    const planned = await planDestroy(parts, key, { observed, because, removeVolumes }, signal);
    stacks.push({ ...key, ...planned, before: deployedText(parts, key), after: "" });
  }
  return stacks;
}

interface ToPlan extends ExpandedDeployment {
  readonly request: SourceRequest;
  readonly configuration: Revision;
  readonly watcher: Watcher;
}

async function planDeployment(
  parts: PipelineParts,
  { request, configuration, declared, found, watcher }: ToPlan,
  signal: AbortSignal,
): Promise<PlannedStack> {
  const { deployment } = declared;
  const key = stackKey(deployment.context, deployment.name);
  const asked = { request, deployment, configuration };
  const isGone = deployment.destroy.enabled && !deployment.pause;
  const revision = found?.revision ??
    (isGone ? configuration : await deployedRevision(parts, asked, signal));
  const { id, plan, release } = await planTarget(parts, {
    key,
    declared,
    deployment,
    revision,
    configuration,
    ...(found === undefined ? {} : { discovered: found.stack }),
    configTarget: request.target,
    progress: (step) => watcher.stack(key.name, step),
    ...ONE_SHOT,
  }, signal);
  const after = release === undefined ? "" : shownModel(parts, release);
  return { ...key, id, plan, before: deployedText(parts, key), after };
}

function deployedText(parts: PipelineParts, key: StackKey): string {
  const recorded = parts.ledger.current(key);
  return recorded === undefined ? "" : shownModel(parts, parts.ledger.open(recorded));
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
