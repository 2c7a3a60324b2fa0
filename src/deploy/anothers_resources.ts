import type { Engine } from "../docker/engine.ts";
import {
  fitsTemplate,
  mayFill,
  resourcesOf,
  type StackClaim,
  stacksIn,
  withKnownNames,
} from "../compose/mod.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  errors,
  formatOwner,
  isSameOwner,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import { createPauses } from "../system/mod.ts";
import { readMark } from "./mark.ts";
import type { VolumeOfTasks } from "./swarm/volumes_of_tasks.ts";
import { volumesThere, type VolumeThere } from "./volumes_there.ts";

/** Facts about whose the stacks of an engine are. */
export interface OwnerFacts {
  /** The owners of a stack of this engine, as far as they are recorded. */
  readonly ownersOf: (stack: string) => Promise<OwnersOfStack>;
  /** Whether a thing of a stack of the same owner, labelled as `deployed` from there, has authors of its own. */
  readonly isSeparate: (stack: string, deployed: string | undefined) => boolean;
  /** The names of its own networks or volumes that a recorded stack defines; none of one that is not recorded. */
  readonly definedBy: (kind: "networks" | "volumes", stack: string) => ReadonlySet<string>;
}

interface NetworkFacts extends OwnerFacts {
  readonly engine: Pick<Engine, "findNetworks">;
}

interface OwnersOfStack {
  /** The owner in this context. */
  readonly here: StackOwner | undefined;
  /** Those in other contexts, where this one has none: labels tell beside them, and each may refuse. */
  readonly elsewhere: readonly StackOwner[];
  /** One in another context that contests the one here: then the stack is neither's. */
  readonly contested?: StackOwner | undefined;
  /** The source that a thing with these labels was made for, where that is another than the owner here. */
  readonly madeFor?: (labels: Readonly<Record<string, string>>) => string | undefined;
}

interface VolumeFacts extends OwnerFacts {
  readonly engine: Parameters<typeof volumesThere>[0];
  /** Name of this node, where the stack is a swarm's, which evaluates templates in names. */
  readonly node: string | undefined;
  /** What tasks of the engine's swarm make when they start, as far as it matters; none by default. */
  readonly ofTasks?: (matters: (name: string) => boolean) => Promise<readonly VolumeOfTasks[]>;
}

/**
 * Refuses a model that defines a volume as its own which belongs to a stack of another source or
 * branch: compose would only warn, and both stacks would write to the same data. A volume that is
 * `external` is shared on purpose, and stacks of one branch may share unless their authors are
 * separate. Labels name no branch: where this context has no owner, they tell the source alone, and
 * other contexts of the engine, which may lie, only refuse. Where it has one, another Stackwright may have
 * made the volume under that name. Naming the repository that a
 * volume was deployed from gives no right to it: anybody may deploy from that repository.
 *
 * A volume that tasks of a stack will make is that stack's, unless `key` has or makes it, too: the
 * tasks would mount what is there by then.
 *
 * One that is not there yet is not made under the name that compose gives a volume of another owner's recorded stack.
 *
 * Throws `conflict` with the volume, the stack and the ways out, and as {@link volumesThere} does.
 */
export async function requireOwnVolumes(
  key: StackKey,
  model: ComposeModel,
  { engine, node, ofTasks, ...facts }: VolumeFacts,
  claimant: StackOwner,
  signal: AbortSignal,
): Promise<void> {
  const isStack = node !== undefined;
  const known = (name: string) => isStack ? withKnownNames(name, { stack: key.name, node }) : name;
  const wanted = resourcesOf(model, "volumes").filter(({ external }) => !external)
    .map((each) => ({ key: each.key, name: known(each.name) }));
  const there = await volumesThere(engine, wanted, isStack, signal);
  const missing = there.filter(({ fits, isTemplate }) => fits.length === 0 && !isTemplate);
  await requireNotDefined(key, { kind: "volumes", missing }, facts, claimant);
  const later = laterOf(await ofTasks?.(mayBeOf(there)) ?? []);
  for (const { key: at, ...each } of there) {
    const { name, fits } = each;
    const all = [...fits, ...later(each)];
    const isOwn = ({ name: volume, labels }: VolumeOfTasks) =>
      volume === name && readMark(labels).stack === key.name;
    for (const { name: volume, labels } of all.some(isOwn) ? fits : all) {
      const whose = mayFill(name, volume)
        ? await anothers(key, labels, facts, claimant)
        : undefined;
      if (whose === undefined) continue;
      throw errors.conflict(
        `volumes.${at}: volume ${volume} is ${whose}, and was not mounted; give the volume another ` +
          `name, or say that it is shared on purpose: volumes.${at}.external: true`,
      );
    }
  }
}

/**
 * Refuses a model whose networks without a `name` of their own are there as ones of a stack of another
 * source, which chose that name: it would decide who else is in them, and what they reach. Networks
 * whose names their authors chose are shared, as `proxy` often is; but one that is not there yet and has
 * the name that compose gives a network of another owner's recorded stack is not made: who made it would
 * keep that stack, which may be making its network anew, from being deployed.
 *
 * Throws `conflict`, as {@link requireOwnVolumes} does.
 */
export async function requireOwnNetworks(
  key: StackKey,
  model: ComposeModel,
  { engine, ...facts }: NetworkFacts,
  claimant: StackOwner,
  signal: AbortSignal,
): Promise<void> {
  const wanted = resourcesOf(model, "networks").filter(({ external }) => !external);
  const isGiven = (each: { readonly key: string; readonly name: string }) =>
    each.name === `${key.name}_${each.key}`;
  const own = new Map(wanted.filter(isGiven).map((each) => [each.name, each.key]));
  const found = await engine.findNetworks([...new Set(wanted.map(({ name }) => name))], signal);
  const there = new Set(found.map(({ name }) => name));
  const missing = wanted.filter(({ name }) => !there.has(name));
  await requireNotDefined(key, { kind: "networks", missing }, facts, claimant);
  for (const { name, labels } of found) {
    const given = own.get(name);
    if (given === undefined) continue;
    const whose = await anothers(key, labels, facts, claimant);
    if (whose === undefined) continue;
    const at = `networks.${given}`;
    throw errors.conflict(
      `${at}: network ${name} is ${whose}, and was not joined; give the network another name, or ` +
        `say that it is shared on purpose: ${at}.external: true`,
    );
  }
}

/**
 * Refuses to make what another owner's recorded stack defines, by the name that compose gives, and has not now. What
 * the stack's own current release defines stays its own.
 */
async function requireNotDefined(
  key: StackKey,
  { kind, missing }: {
    readonly kind: "networks" | "volumes";
    readonly missing: readonly { readonly key: string; readonly name: string }[];
  },
  facts: OwnerFacts,
  claimant: StackOwner,
): Promise<void> {
  const what = kind === "networks" ? "network" : "volume";
  const pauses = createPauses(1);
  const own = facts.definedBy(kind, key.name);
  for (const { key: at, name } of missing) {
    if (own.has(name)) continue;
    for (const stack of stacksIn(name, "_")) {
      await pauses.after(1);
      if (stack === key.name || !facts.definedBy(kind, stack).has(name)) continue;
      const labels = { [COMPOSE_LABELS.project]: stack };
      const whose = await anothers(key, labels, facts, claimant);
      if (whose === undefined) continue;
      throw errors.conflict(
        `${kind}.${at}: ${what} ${name} is ${whose}, and is not there now, so it was not made; give ` +
          `the ${what} another name, or share it when it is there: ${kind}.${at}.external: true`,
      );
    }
  }
}

/**
 * Refuses what a recorded stack of another owner claims, also while it has no container that shows it. What
 * the stack itself claims already, or one of its containers has, stays its own. Throws `conflict`, as
 * {@link requireOwnVolumes} does.
 */
export async function requireUnclaimed(
  key: StackKey,
  { claims, claimants, own = new Set() }: {
    readonly claims: readonly StackClaim[];
    /** Keys of what the stack's containers have. */
    readonly own?: ReadonlySet<string>;
    /** The stacks that claim the same, by key of the claims; the own one among them. */
    readonly claimants: ReadonlyMap<string, ReadonlySet<string>>;
  },
  facts: OwnerFacts,
  claimant: StackOwner,
): Promise<void> {
  const pauses = createPauses(1);
  for (const { service, what, held, needed } of claims) {
    const isOwn = (each: string) => own.has(each) || claimants.get(each)?.has(key.name) === true;
    if (held.length > 0 && held.every(isOwn)) continue;
    const open = needed.filter((each) => !own.has(each));
    for (const stack of new Set(open.flatMap((each) => [...claimants.get(each) ?? []]))) {
      await pauses.after(1);
      const labels = { [COMPOSE_LABELS.project]: stack };
      const whose = await anothers(key, labels, facts, claimant);
      if (whose === undefined) continue;
      throw errors.conflict(
        `service ${service} needs ${what}, which is ${whose}, also while no container of it has that; ` +
          `give one of them something else, or it waits until ${stack} lets go: by another commit, or ` +
          "when a person stops, removes or forgets it",
      );
    }
  }
}

/** Words for whose something with these labels is; `undefined` where the claimant may use it. */
async function anothers(
  key: StackKey,
  labels: Readonly<Record<string, string>>,
  { ownersOf, isSeparate }: OwnerFacts,
  claimant: StackOwner,
): Promise<string | undefined> {
  const { stack, maker, deployed } = readMark(labels);
  if (stack === "" || stack === key.name) return undefined;
  // What has no label of Stackwright's either is left to compose's warning.
  const own = maker === "stackwright" ? deployed : undefined;
  const labelled = own === undefined ? [] : [{ source: own, reference: "" }];
  const { here, elsewhere, contested, madeFor } = await ownersOf(stack);
  const owners = here === undefined ? [...elsewhere, ...labelled] : [here];
  const other = owners.find((each) => !isSameOwner(each, claimant)) ?? contested;
  if (other !== undefined) return `stack ${stack}'s, which runs from ${formatOwner(other)}`;
  if (owners.length > 0 && isSeparate(stack, own)) {
    return `stack ${stack}'s, which has another repository`;
  }
  const made = own === undefined ? undefined : madeFor?.(labels);
  return made && `stack ${stack}'s as ${made} deployed it`;
}

/** Whether a volume of tasks, by its name, is, or may become, one of these. */
function mayBeOf(there: readonly VolumeThere[]): (name: string) => boolean {
  const names = new Set(there.map(({ name }) => name));
  const templates = there.filter(({ isTemplate }) => isTemplate);
  return (name) =>
    names.has(name) || templates.some((each) => fitsTemplate(each.name, name)) ||
    name.includes("{{") && there.some((each) => fitsTemplate(name, each.name));
}

/** Finds the volumes of tasks that a wanted one is, or may become. */
function laterOf(ofTasks: readonly VolumeOfTasks[]) {
  const byName = Map.groupBy(ofTasks, ({ name }) => name);
  const templates = ofTasks.filter(({ name }) => name.includes("{{"));
  const mayBe = (written: string, name: string) =>
    fitsTemplate(written, name) && mayFill(written, name);
  return ({ name, isTemplate }: Pick<VolumeThere, "name" | "isTemplate">) =>
    isTemplate
      ? ofTasks.filter((each) => fitsTemplate(name, each.name))
      : [...byName.get(name) ?? [], ...templates.filter((each) => mayBe(each.name, name))];
}
