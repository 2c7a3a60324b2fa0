import { join } from "node:path";
import {
  type JsonObject,
  labelsOf,
  objectAt,
  replicasOf,
  requireHooksRun,
  restartPolicy,
  servicesOf,
  textAt,
  tooLargeProject,
} from "../compose/mod.ts";
import { type JobSpec, misspelledLabels, readJobLabels, unusedFile } from "../config/mod.ts";
import {
  badImageName,
  type ComposeInvocation,
  type ComposeModel,
  errors,
  isObject,
  isStackwrightError,
  mixedUpBuilds,
  ownVariable,
  peerImage,
} from "../model/mod.ts";
import type { ComposeCall } from "../deploy/mod.ts";
import { checkSchedule, ignoredFields } from "../plan/mod.ts";
import { createPauses } from "../system/mod.ts";
import { type ComposeInputs, composeInputs } from "./compose_files.ts";
import type { GuardedInputs } from "./guarded_inputs.ts";
import { contentIds } from "./content.ts";
import { type BesideModel, besideModel, noteServices } from "./declared_parts.ts";
import { guardedRendering } from "./guarded_rendering.ts";
import { type ConfigurationFiles, configurationFiles } from "./configuration_files.ts";
import { invocationOf } from "./invocation.ts";
import { jobPlace } from "./job_place.ts";
import { requireShortEnvironment } from "./long_values.ts";
import { operation } from "./measure.ts";
import { modelValues } from "./model_values.ts";
import type { PrepareParts } from "./parts.ts";
import { requireSafeInputs, requireSafeModel } from "./path_safety.ts";
import { PlainSecrets } from "./plain_secrets.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";
import { hideOthers, requirePlain, type RevealedInputs, revealInputs } from "./reveal_inputs.ts";
import { hasLinks, realPaths, requireInside } from "./real_paths.ts";
import { filesOwner, hidingOwner } from "./target.ts";

/** A rendered target with its inputs. */
export interface RenderedTarget extends BesideModel {
  readonly inputs: ComposeInputs;
  /** Real path in the tree for each of the inputs' paths. */
  readonly realInputs: ReadonlyMap<string, string>;
  readonly revealed: RevealedInputs;
  /** Files beside the configuration, if that has another source. */
  readonly beside: ConfigurationFiles | undefined;
  readonly tree: string;
  readonly invocation: ComposeInvocation;
  readonly plain: PlainSecrets;
  /** The model as compose printed it. */
  readonly model: ComposeModel;
}

/**
 * Puts the tree of a target on disk and has compose render it. Before, everything that compose
 * would read is decrypted, and checked to belong to the repository.
 */
export async function renderTarget(
  parts: PrepareParts,
  target: ResolvedTarget,
  signal: AbortSignal,
): Promise<RenderedTarget> {
  const { deployment, revision } = target;
  for (const warning of ignoredFields(deployment, target.declared.given)) {
    parts.log.warning(warning, { stack: target.key.name, context: target.key.context });
  }
  const owner = filesOwner(target, revision);
  const inputs = await composeInputs(parts, { revision, deployment, owner }, signal);
  noteUnused(parts, target, inputs);
  const tree = await writeTree(parts, target, inputs, signal);
  const realInputs = await realPaths(parts, tree, inputs.paths);
  const paths = [...realInputs.values()];
  const toReveal = { revision, tree, owner, paths, complete: inputs.complete };
  const revealed = await revealInputs(parts, toReveal, signal);
  const plain = new PlainSecrets(parts, hidingOwner(target), namesOf(target));
  await hideOthers(parts, revealed, hidingOwner(target));
  plain.hideDecrypted(revealed.secrets);
  const beside = await configurationFiles(parts, target, signal);
  plain.hideDecrypted(beside?.secrets ?? []);
  const { invocation, project } = await invocationOf(
    parts,
    target,
    { inputs, tree, beside, plain },
    signal,
  );
  target.progress("rendering");
  const variables = invocation.environment;
  plain.hideVariables({ ...deployment.build.args, ...variables });
  const named = namedFiles(inputs, tree);
  await plain.hideCompose(named.compose, signal);
  await plain.hideDotenv(named.others, signal);
  const guard = () => requireSafeInputs(parts, project, tree, variables, signal);
  const { model, declared } = await guardedRendering(guard, async (guarded, requireSame) => {
    noteOwn(parts, target, guarded);
    await plain.hideDotenv(guarded.files, signal);
    const collectsSeldom = inputs.complete && !plain.namesCollector && !guarded.interpolates;
    const call = { project, variables, collectsSeldom, requireSame };
    const given = { call, inputs, realInputs, tree, beside, states: guarded.states };
    return { ...guarded, model: await render(parts, target, given, signal) };
  });
  noteServices(parts, target, model);
  requireSize(model, target);
  const sources = { model, project, variables };
  const aside = await besideModel(parts, { ...target, ...sources }, declared, signal);
  requireImageNames(model, target);
  await plain.hideModel(model, invocation);
  noteMisspelled(parts, target, model);
  const values = await modelValues(parts, sources, signal);
  const gone = await requireSafeModel(parts, target, model, tree, signal);
  if (gone !== undefined) throw gone;
  requireShortEnvironment(model);
  await requireJobs(parts, model, { ...target, ...inputs, tree });
  await requireHooksRun(model, target.key.name, () => parts.host.compose.version(signal));
  requirePlain(model, revealed);
  const read = { inputs, realInputs, revealed, beside, tree, plain };
  return { ...read, invocation: { ...invocation, values }, model, ...aside };
}

/** Has compose render, unless all inputs are the same as before. */
async function render(
  parts: PrepareParts,
  { revision, configuration, origin }: ResolvedTarget,
  { call, inputs, realInputs, tree, beside, states }:
    & Pick<RenderedTarget, "inputs" | "realInputs" | "tree" | "beside">
    & Pick<GuardedInputs, "states">
    & { readonly call: ComposeCall },
  signal: AbortSignal,
): Promise<ComposeModel> {
  const trees = [tree, ...(beside?.tree === undefined ? [] : [beside.tree])];
  const sources = [revision.source.name, configuration.source.name];
  const besides = Object.entries(beside?.ids ?? {}).map(besideIt);
  const fresh = async () => {
    // By the commit: what is read of it need not be known.
    const all = { call, sources, trees, contents: new Map([[".", revision.id], ...besides]) };
    if (origin !== "manual") parts.rendered.requireNotFailed(all, parts.clock.now());
    try {
      return await operation(parts, "render", () => parts.host.compose.render(call, signal));
    } catch (error) {
      parts.rendered.keepFailure(all, error, parts.clock.now());
      throw error;
    }
  };
  // A link's target may change without a change at the link's path.
  const isLinked = hasLinks(realInputs) || beside?.isLinked === true;
  if (!inputs.complete || isLinked) return await fresh();
  const ids = await contentIds(parts.source, revision, inputs.paths, signal);
  // What the guard saw is what compose reads: a path that is not among the inputs may count as well.
  const read = { call, sources, trees, contents: new Map([...ids, ...besides, ...states]) };
  const known = parts.rendered.find(read);
  if (known !== undefined) return known;
  const model = await fresh();
  parts.rendered.keep(read, model);
  return model;
}

/** Key for a path of the configuration's source, since the other source may have the same path. */
function besideIt([path, id]: [string, string]): [string, string] {
  return [`configuration:${path}`, id];
}

/** Names of a target and its sources, which stay visible even if a dotenv file has them. */
function namesOf({ key, revision, configuration, deployment }: ResolvedTarget): string[] {
  const sources = [revision, configuration].flatMap(({ source, reference, id }) => [
    source.name,
    reference,
    id,
  ]);
  return [key.name, key.context, ...sources, deployment.workingDir, ...deployment.composeFiles];
}

/** The compose files known before rendering, and the other files that they name. */
function namedFiles({ composeFiles, paths }: ComposeInputs, tree: string) {
  const isCompose = (path: string) => composeFiles.includes(path) || /\.(?:ya?ml|json)$/.test(path);
  const places = (chosen: readonly string[]) => chosen.map((path) => join(tree, path));
  return {
    compose: places([...new Set([...composeFiles, ...paths.filter(isCompose)])]),
    others: places(paths.filter((path) => !isCompose(path))),
  };
}

function noteUnused({ log }: PrepareParts, { key }: ResolvedTarget, inputs: ComposeInputs): void {
  for (const file of inputs.unused) {
    log.warning(`${file}: ${unusedFile(inputs.composeFiles[0] ?? "")}`, {
      stack: key.name,
      context: key.context,
    });
  }
}

/** Warns of variables that compose files take from our own environment: other hosts have others. */
function noteOwn({ log, host }: PrepareParts, { key }: ResolvedTarget, { own }: GuardedInputs) {
  for (const [name, file] of own) {
    if (!host.compose.hasOwn(name)) continue;
    log.warning(`${file}: ${ownVariable(name)}`, { stack: key.name, context: key.context });
  }
}

/** Limit of warnings about misspelled labels, since finding similar names takes time. */
const MOST_MISSPELLED = 20;

/** Warns of some labels with our prefix, or doco-cd's, that have no meaning. */
export function noteMisspelled(
  { log }: Pick<PrepareParts, "log">,
  { key }: Pick<ResolvedTarget, "key">,
  model: ComposeModel,
): void {
  let left = MOST_MISSPELLED;
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    const found = left === 0 ? [] : misspelledLabels(labelsOf(definition), left);
    left -= found.length;
    for (const each of found) {
      log.warning(`service ${service}: ${each}`, { stack: key.name, context: key.context });
    }
  }
}

async function writeTree(
  parts: PrepareParts,
  { deployment, revision, progress }: ResolvedTarget,
  inputs: ComposeInputs,
  signal: AbortSignal,
): Promise<string> {
  progress("writing its files");
  const write = () => parts.source.materialise(revision, signal);
  const tree = await operation(parts, "materialise", write);
  const named = [deployment.workingDir, ...inputs.composeFiles, ...inputs.envFiles];
  await requireInside(parts, tree, named);
  return tree;
}

/** Checks the size before other checks process the model. Throws `config_invalid`. */
function requireSize(model: ComposeModel, { key, swarm, deployment }: ResolvedTarget): void {
  const buildArguments = deployment.build.args;
  const tooLarge = tooLargeProject(model, { isStack: swarm !== undefined, buildArguments });
  if (tooLarge === undefined) return;
  throw errors.config_invalid(`deployment ${key.name}: ${tooLarge}`);
}

/**
 * Checks the names of images in clearer words than the engine's, that none is another manager of
 * the same stacks: adopting that manager's own stack would start it again, and that each build is one
 * to compose. Throws `config_invalid`.
 */
function requireImageNames(model: ComposeModel, { key, swarm }: ResolvedTarget): void {
  const services = Object.entries(servicesOf(model));
  const named = services.flatMap(([service, definition]) => {
    const image = textAt(definition, "image");
    const why = badImageName(image) ?? peerImage(image);
    return why === undefined ? [] : [`services.${service}.image: ${why}`];
  });
  // A swarm's services are not built.
  const built = swarm === undefined ? services.filter(([, { build }]) => isObject(build)) : [];
  const mixedUp = mixedUpBuilds(built.map(([service]) => service));
  const found = [...named, ...mixedUp.map(({ service, why }) => `services.${service}: ${why}`)];
  if (found.length === 0) return;
  throw errors.config_invalid(`deployment ${key.name}: ${found.join("; ")}`);
}

/** Jobs that are looked at in one go: the next time of each may take milliseconds to find. */
const JOBS_AT_ONCE = 8;

/** Fails the deployment for a job that cannot run: otherwise nobody notices until it is due. */
async function requireJobs(
  { files, clock }: Pick<PrepareParts, "files" | "clock">,
  model: ComposeModel,
  { key: { name }, swarm, ...where }:
    & Pick<ResolvedTarget, "key" | "swarm">
    & Pick<ComposeInputs, "composeFiles">
    & Pick<RenderedTarget, "tree">,
): Promise<void> {
  const pauses = createPauses(JOBS_AT_ONCE);
  const now = clock.now();
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    try {
      const spec = readJobLabels(labelsOf(definition), { project: name, service });
      if (spec?.enabled !== true) continue;
      await pauses.after(1);
      requireJob(definition, spec, { now, isStack: swarm !== undefined });
    } catch (error) {
      if (!isStackwrightError(error, "config_invalid")) throw error;
      const place = await jobPlace(files, { ...where, service, now });
      const why = place ?? `service ${service}: ${error.message}`;
      throw errors.config_invalid(`deployment ${name}: ${why}`);
    }
  }
}

function requireJob(
  service: JsonObject,
  { schedule, mode }: JobSpec,
  { now, isStack }: { readonly now: Date; readonly isStack: boolean },
): void {
  const isEvery = schedule.includes("@every ");
  const replicas = replicasOf(service);
  const isGlobal = textAt(objectAt(service, "deploy"), "mode").startsWith("global");
  const problem = restartPolicy(service) !== "no"
    ? "a scheduled job is started by its schedule alone: its restart policy must be no"
    : isStack && mode === "restart" && isGlobal
    ? "a job on every node of a swarm is made for each run: it needs execution_mode one_off"
    : !isStack && mode === "restart" && replicas !== 1
    ? `a job that restarts its container has one, not ${replicas}; execution_mode one_off takes more`
    : isEvery
    ? undefined
    : checkSchedule(schedule, { now });
  if (problem !== undefined) throw errors.config_invalid(problem);
}
