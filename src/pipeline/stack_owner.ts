import { requireOwnNetworks, requireOwnVolumes, volumesOfTasks } from "../deploy/mod.ts";
import { resourcesOf } from "../compose/mod.ts";
import type { SwarmService } from "../docker/swarm.ts";
import {
  type ComposeModel,
  DEFAULT_CONTEXT,
  type DiscoveredStack,
  errors,
  formatOwner,
  isOurs,
  isStackwrightError,
  type ObservedStack,
  ownerFrom,
  type Release,
  type RunJob,
  type StackKey,
  type StackOwner,
  type StackwrightError,
  type ToldTarget,
} from "../model/mod.ts";
import {
  isFoundElsewhere,
  otherOwner,
  recordedOwner,
  requireDeployedHere,
  requireFreeName,
  takenByOther,
} from "../record/mod.ts";
import type { RecordedOwner } from "../record/owners.ts";
import { sourceAsOwner, stackAsOwner } from "../system/mod.ts";
import { askerOf, type AskingRelease } from "./owner/asker.ts";
import { claimOf } from "./owner/claim.ts";
import {
  type Anothers,
  dataVolumes,
  findAnothers,
  joinedThings,
  noneLeaderless,
  notYours,
  partsOf,
} from "./owner/own_things.ts";
import { keptForOther, ownersElsewhere } from "./owner_elsewhere.ts";
import { takesAll } from "./owner/whose.ts";
import type { PipelineParts } from "./parts.ts";
import type { Target } from "../prepare/mod.ts";

/**
 * Credentials for the registry of a swarm job's image, as `X-Registry-Auth`; empty without any. The
 * engine of another context may say that a job has any image, and so gets them for the image that
 * was deployed there, and none for a job that Stackwright did not deploy.
 */
export async function jobCredentials(
  { ledger, host: { images } }: Pick<PipelineParts, "ledger" | "host">,
  { key, service }: Pick<RunJob, "key" | "service">,
  told: string,
  signal: AbortSignal,
): Promise<string> {
  if (key.context === DEFAULT_CONTEXT) return await images.credentials(told, signal);
  const recorded = ledger.current(key);
  const services = recorded === undefined ? [] : ledger.shown(recorded).services;
  const image = services.find(({ name }) => name === service)?.image ?? "";
  return image === "" ? "" : await images.credentials(image, signal);
}

/**
 * True when the ledger has another owner of a target's stack; false without a configuration. Who has just asked
 * for the `recorded` owner, and has not waited since, hands it on.
 */
export function isStrangers(
  { ledger }: Pick<PipelineParts, "ledger">,
  { key, configuration, origin }: Pick<ToldTarget, "key" | "configuration" | "origin">,
  recorded = recordedOwner(ledger, key),
): boolean {
  if (configuration === undefined) return false;
  return otherOwner(recorded, claimantOf({ configuration, origin }, recorded)) !== undefined;
}

/**
 * The owner in whose name a target asks for a stack with the owner `recorded`. By another context
 * persons have the branch that they deploy: they would make a second stack there for the other one.
 */
function claimantOf(
  target: Pick<Target, "configuration" | "origin">,
  recorded: RecordedOwner | undefined,
): StackOwner {
  return recorded?.elsewhere === undefined ? wantedOwner(target) : ownerFrom(target.configuration);
}

/**
 * Refuses a target whose stack has another owner by the ledger, by whichever context of its engine, which
 * another one of these deploys, or which was discovered and is deployed from another repository. Call it
 * first, so that only the owner unpins or repairs a stack.
 *
 * Throws `conflict`, and records which other owner was refused: a person may hand the stack over.
 */
export function requireNotAnothers(
  parts: PipelineParts,
  target: Target,
  recorded = recordedOwner(parts.ledger, target.key),
): void {
  const claimant = claimantOf(target, recorded);
  remembering(parts, target, () => requireRecorded(target.key, recorded, claimant));
  requireFreeName(parts.ledger, target.discovered);
  // To other owners it is told whose it is.
  requireDeployedHere(parts.ledger, target.key, "deployed", ownerFrom(target.configuration));
}

/**
 * Refuses a target whose stack is another's, by the ledger, by a container, or by a volume where no
 * container of the stack tells, and by {@link joinedThings} where the ledger does not either, or knows
 * the stack as containers and it becomes a swarm's: two
 * repositories, or two branches, with one stack name would otherwise replace each other for ever, or
 * get each other's data, secrets and networks.
 *
 * Throws `conflict`, as {@link requireNotAnothers} does.
 */
export async function requireOwnership(
  parts: PipelineParts,
  target: Target,
  observed: ObservedStack,
  signal: AbortSignal,
): Promise<void> {
  const { ledger } = parts;
  const { key, discovered: found } = target;
  const recorded = recordedOwner(ledger, key);
  requireNotAnothers(parts, target, recorded);
  const containers = partsOf(observed);
  const claimant = claimantOf(target, recorded);
  const { reachedAs } = parts.options;
  const claim = claimOf(ledger, key, { recorded, by: claimant, found, reachedAs });
  // A recorded owner that never began to deploy may have been refused by then.
  const last = recorded && ledger.history(key, 1)[0];
  const hasBegun = last !== undefined;
  const isHandedOver = takesAll(claim);
  // While a container of the stack is there, nobody else can have deployed under its name.
  const needsVolumes = claim.repository === undefined
    ? !isHandedOver && !containers.some(isOurs)
    : !hasBegun || !containers.some(isOurs);
  // Its swarm may have told nothing when it began as containers: it had no leader.
  const isNewInSwarm = !isHandedOver && hasBegun && target.swarm !== undefined &&
    last.swarm === undefined;
  const needsJoined = isNewInSwarm || (needsVolumes && !hasBegun);
  const { engine } = parts.host;
  const left = [
    ...needsVolumes ? await dataVolumes(engine, key, signal) : [],
    ...needsJoined ? await joinedThings(engine, target, signal) : [],
  ];
  const theirs = findAnothers(claim, { containers, left });
  if (found !== undefined && theirs?.isRepository === true) throw fromElsewhere(found, theirs);
  const isThere = [...containers, ...left].some(isOurs);
  const asked = { key, wants: ownerFrom(target.configuration), found, isThere };
  const [elsewhere] = recorded === undefined ? await ownersElsewhere(parts, asked, signal) : [];
  const kept = () => keptForOther(parts, { ...asked, isHandedOver });
  // A release that was forgotten is none: what containers wrote may lie with another context since.
  const other = elsewhere ?? (ledger.current(key) === undefined ? await kept() : undefined);
  if (other?.isOwn === true) throw errors.conflict(`conflict: ${other.words}`);
  const how = other?.words ?? theirs?.how;
  remembering(parts, target, () => {
    if (how !== undefined) throw notYours(key, how, claimant);
  });
}

/** The error for a discovered stack with a thing from another repository: labels tell where the ledger was lost. */
function fromElsewhere(
  { key: { name }, repository, owner }: DiscoveredStack,
  { what, source }: Pick<Anothers, "what" | "source">,
): StackwrightError {
  return errors.conflict(
    `conflict: ${what} of ${name} is from ${source}, so ${name} was not deployed from ` +
      `${repository}, where it was discovered; choose another name there, or write the stack down ` +
      `in the configuration of ${owner.source}`,
  );
}

/** Refuses a recorded owner that is another than who asks. Throws `conflict`. */
function requireRecorded(
  key: StackKey,
  recorded: RecordedOwner | undefined,
  claimant: StackOwner,
): void {
  const other = otherOwner(recorded, claimant);
  if (other === undefined) return;
  const by = other.context === undefined ? "" : ` by context ${other.context}`;
  throw notYours(key, `belongs to ${formatOwner(other)}${by}`, claimant);
}

/**
 * Refuses a release of `owner`, by default its stack's, or its own source where none is recorded,
 * whose stack is another's by another context, or that would write into volumes of another owner's
 * stack, or join its networks; see {@link takenByOther}, {@link requireOwnVolumes} and
 * {@link requireOwnNetworks}. Throws `conflict`.
 */
export async function requireNothingForeign(
  parts: Parameters<typeof ownersElsewhere>[0],
  { key, swarm, owner, discovered, ...of }: AskingRelease & Pick<Release, "swarm">,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<void> {
  const { host, ledger } = parts;
  const taken = takenByOther(ledger, { key, ...of, ...(owner && { owner }) });
  if (taken !== undefined) throw errors.conflict(taken);
  const { claimant, facts } = askerOf(parts, { key, owner, discovered, ...of }, signal);
  const { engine } = host;
  await requireOwnNetworks(key, model, { ...facts, engine }, claimant, signal);
  if (resourcesOf(model, "volumes").every(({ external }) => external)) return;
  const { hostname, swarm: role } = await host.info(signal);
  const node = swarm === undefined ? undefined : hostname;
  const ofTasks = async (matters: (name: string) => boolean) => {
    if (role !== "manager") return [];
    const of = (each: SwarmService) => {
      const found = volumesOfTasks([each], hostname).filter(({ name }) => matters(name));
      return found.length === 0 ? undefined : found;
    };
    return (await engine.swarm.everyService(of, signal).catch(noneLeaderless)).flat();
  };
  await requireOwnVolumes(key, model, { ...facts, engine, node, ofTasks }, claimant, signal);
}

/**
 * Records the owner of a stack that is about to be deployed, or that is as its source wants it. The
 * first one has its branch, also where a person deployed it: any branch could take it otherwise.
 */
export function settleOwner(
  { ledger, secrets }: Pick<PipelineParts, "ledger" | "secrets">,
  target: Pick<Target, "key" | "configuration" | "revision" | "origin" | "discovered">,
): void {
  const { key, configuration, configuration: { source }, revision, discovered } = target;
  const from = { repository: revision.source.name, isFound: isFoundElsewhere(discovered) };
  const wanted = wantedOwner(target);
  // Any but a person's has its branch already.
  const isFirst = wanted.reference === "" && recordedOwner(ledger, key) === undefined;
  ledger.owners.settle(key, isFirst ? ownerFrom(configuration) : wanted, from);
  const [own, files] = [sourceAsOwner(source.name), sourceAsOwner(revision.source.name)];
  secrets.settle(stackAsOwner(key), own, files);
}

/**
 * The owner in whose name a target is deployed. A person's target has no reference: persons may
 * look at or deploy another branch, and the stack stays with its own.
 */
export function wantedOwner(
  { configuration, origin }: Pick<Target, "configuration" | "origin">,
): StackOwner {
  const owner = ownerFrom(configuration);
  return origin === "manual" ? { ...owner, reference: "" } : owner;
}

/** The owner whose volumes a target may have: its stack's, where a person deploys another of its branches. */
export function volumesOwner(
  { ledger }: Pick<PipelineParts, "ledger">,
  { key, configuration, origin }: Pick<Target, "key" | "configuration" | "origin">,
): StackOwner {
  const recorded = origin === "manual" ? recordedOwner(ledger, key) : undefined;
  return recorded ?? ownerFrom(configuration);
}

function remembering<T>(
  { ledger }: PipelineParts,
  { key, configuration }: Target,
  ask: () => T,
): T {
  try {
    return ask();
  } catch (error) {
    if (isStackwrightError(error, "conflict")) ledger.owners.refuse(key, ownerFrom(configuration));
    throw error;
  }
}
