import type { ResourceSummary } from "../../docker/engine.ts";
import { fitsTemplate, resourcesOf } from "../../compose/mod.ts";
import {
  type ComposeModel,
  isOurs,
  LABELS,
  peerUrl,
  recordOf,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import type { Ledger, RecordedRelease } from "../../record/ledger.ts";
import { formerOwner, recordedOwner } from "../../record/mod.ts";
import { surelySameRepository } from "../../source/mod.ts";

/** Labels of a volume, and its name. */
type Volume = Pick<ResourceSummary, "name" | "labels">;

/** Facts that tell which volumes of its name are a stack's own. */
interface VolumeClaims {
  readonly owner: StackOwner | undefined;
  /** Whether a person handed the stack over: then labels of the time before do not count. */
  readonly isAdopted: boolean;
  /** Whether nothing was deployed since that: then the volumes are the owner's as they are. */
  readonly isAsAdopted: boolean;
  /** Names of the sources that the stack's own volumes may be labelled with. */
  readonly sources: ReadonlySet<string>;
  /** Whether a release mounted a volume of that name that was there before the stack. */
  readonly tookOver: (name: string) => boolean;
}

/** What tells a stack's own volumes from those that another manager made under its name. */
export interface OwnVolumes {
  /** Why a volume is not the stack's own, to follow its name; `undefined` for one that is. */
  readonly whyNot: (volume: Volume) => string | undefined;
  /** Whether the labels of a volume name another source than the stack's. */
  readonly isLabelledOther: (volume: Volume) => boolean;
}

/** Releases to look through for what they took over; the ledger keeps about as many. */
const MOST_RELEASES = 200;

/**
 * Reads from the ledger which volumes of its name are a stack's own. Where it records nothing, the
 * stack is `by`'s, and its containers have the labels `seen`.
 */
export function ownVolumes(
  ledger: Pick<Ledger, "owners" | "current" | "history" | "open">,
  key: StackKey,
  { by, seen = [] }: {
    readonly by?: StackOwner | undefined;
    readonly seen?: readonly Pick<Volume, "labels">[];
  } = {},
): OwnVolumes {
  const recorded = recordedOwner(ledger, key);
  const owner = recorded ?? by;
  const isAdopted = recorded?.adopted === true;
  const own = ownReleases(ledger, key, owner);
  const releases = isAdopted ? ledger.history(key, MOST_RELEASES) : own;
  // Releases are opened when a volume asks for the first time, each once: models may be large.
  let names: readonly string[] | undefined;
  const taken = () => names ??= releases.flatMap((each) => takenOver(modelOf(ledger, each)));
  const labelled = seen.filter(isOurs).map(({ labels }) => labels[LABELS.sourceName] ?? "");
  const deployed = own.flatMap(({ revision, configuration }) => [revision, configuration ?? []])
    .flat().map(({ source }) => source.name);
  const claims = {
    owner,
    isAdopted,
    isAsAdopted: isAdopted && !hasDeployed(own),
    sources: new Set([...owner === undefined ? [] : [owner.source], ...deployed, ...labelled]),
    tookOver: (name: string) => taken().some((each) => fitsTemplate(each, name)),
  };
  return {
    whyNot: (volume) => whyNotOwn(volume, claims),
    isLabelledOther: (volume) => labelledOther(volume, claims) !== undefined,
  };
}

/** The releases that a stack's owner deployed, newest first; all of them where there is no owner. */
export function ownReleases(
  ledger: Pick<Ledger, "history">,
  key: StackKey,
  owner: StackOwner | undefined,
): readonly RecordedRelease[] {
  return ledger.history(key, MOST_RELEASES)
    .filter((each) => formerOwner(each, owner) === undefined);
}

/** Whether one of an owner's releases ran: a first one that failed put back what was there before it. */
export function hasDeployed(releases: readonly Pick<RecordedRelease, "status">[]): boolean {
  return releases.some(({ status }) => status === "deployed");
}

/**
 * Tells why a volume that has a stack's name is not its own, to follow the volume's name;
 * `undefined` where it is: the stack made it, or took it over. Another manager may have made one
 * while nothing of the stack ran.
 */
export function whyNotOwn(volume: Volume, claims: VolumeClaims): string | undefined {
  const other = labelledOther(volume, claims);
  if (other !== undefined) return `it was made for ${other}`;
  const { labels, name } = volume;
  const { owner, isAsAdopted } = claims;
  const url = peerUrl(labels);
  const isPeersOfOwner = url !== "" && owner !== undefined &&
    surelySameRepository(url, owner.source);
  const isOwn = isOurs({ labels }) || isPeersOfOwner || isAsAdopted || claims.tookOver(name);
  return isOwn ? undefined : "another manager made it: Stackwright neither did, nor took it over";
}

/** The source, not one of the stack's, that the labels of a volume name. */
function labelledOther(
  { labels }: Volume,
  { owner, isAdopted, sources }: VolumeClaims,
): string | undefined {
  if (isAdopted) return undefined;
  if (isOurs({ labels })) {
    const source = labels[LABELS.sourceName];
    return source === undefined || sources.has(source) ? undefined : source;
  }
  const url = peerUrl(labels);
  const isOwners = url === "" || owner === undefined || surelySameRepository(url, owner.source);
  return isOwners ? undefined : url;
}

/** The names, or their templates, of volumes that were there without Stackwright's labels, or may have been. */
function takenOver(model: ComposeModel | undefined): string[] {
  return resourcesOf(model ?? {}, "volumes").filter((each) =>
    !each.external &&
    // Whether those that a template in the name stands for were there is recorded nowhere.
    (each.name.includes("{{") || recordOf(each.definition["labels"])[LABELS.manager] === undefined)
  ).map(({ name }) => name);
}

/** The model of a release; `undefined` where it cannot be opened any more. */
export function modelOf(
  ledger: Pick<Ledger, "open">,
  release: RecordedRelease,
): ComposeModel | undefined {
  try {
    return ledger.open(release).model;
  } catch {
    return undefined;
  }
}
