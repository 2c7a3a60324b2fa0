import { type Destroy, observe, removeUnusedImages } from "../../deploy/mod.ts";
import type { ImageSummary } from "../../docker/engine.ts";
import {
  canComeAgain,
  familiarName,
  formatStackKey,
  imagesOf,
  isBuiltFor,
  messageOf,
  type NamedImage,
  type StackKey,
} from "../../model/mod.ts";
import type { Ledger, RecordedRelease } from "../../record/ledger.ts";
import { createPauses } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** Releases to read at once while good ones are looked for. */
const PAGE = 8;

/**
 * Removes the images that the now deployed release replaced in a stack, and those kept for releases
 * beyond the retention. Images that a release of any stack needs stay, and so do those that a person made or
 * loaded. `replaced` are the ids of the images that ran. Only warns, so that a healthy release does not fail by it.
 */
export async function pruneImages(
  parts: PipelineParts,
  key: StackKey,
  replaced: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const { ledger, host: { engine, images }, options } = parts;
    const now = new Set(Object.values(ledger.current(key)?.images ?? {}));
    const good = goodReleases(ledger, key, Infinity);
    const earlier = options.imageRetention === 0 ? [] : good
      .slice(options.imageRetention + 1).flatMap((each) => Object.values(each.images));
    const former = [...replaced, ...earlier].filter((id) => !now.has(id));
    // What was built for releases that failed is recorded nowhere; without builds there is nothing to look for.
    const lately = ledger.history(key, PAGE).flatMap((each) => ledger.services(each));
    if (former.length === 0 && !lately.some(({ builds }) => builds)) return;
    await images.nameFound(signal);
    const present = await engine.listImages(signal);
    const ids = new Set(present.filter((each) => canComeAgain(each, key.name)).map(({ id }) => id));
    const after = await observe(engine, { key }, signal);
    const running = new Set(after.containers.map((each) => each.imageId));
    const candidates = [...former, ...keptFor(key, present)]
      .filter((id) => ids.has(id) && !now.has(id) && !running.has(id));
    if (candidates.length === 0) return;
    const retention = { retention: options.imageRetention };
    const own = await ownNames(parts, key, good, signal);
    const kept = orAhead(parts, key, await neededImages(ledger, present, retention, signal));
    const goes = candidates.filter((id) => !kept.has(id));
    await removeUnusedImages(engine, { key, images: goes, ownNames: own }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { name: stack, context } = key;
    parts.log.warning(`images were not pruned: ${messageOf(error)}`, { stack, context });
  }
}

/** Images built for a stack, even those that were never released. */
function keptFor({ name }: StackKey, present: readonly ImageSummary[]): string[] {
  return present.filter((each) => isBuiltFor(each, name)).map(({ id }) => id);
}

/**
 * The image names, as engines list them, in the releases whose images are kept and in a few before, and in
 * those that failed lately. No other names are taken away: an image with a name that only older releases used stays.
 */
async function ownNames(
  { ledger, options }: Pick<PipelineParts, "ledger" | "options">,
  key: StackKey,
  good: readonly RecordedRelease[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const pauses = createPauses(1);
  const bad = ledger.history(key, PAGE).filter(({ status }) => status !== "deployed");
  for (const release of [...good.slice(0, options.imageRetention + 1 + PAGE), ...bad]) {
    signal.throwIfAborted();
    const named = ledger.services(release).flatMap(imagesOf);
    for (const { image } of named) names.add(familiarName(image));
    await pauses.after(1);
  }
  return names;
}

/** What says which images stay. */
type ImagesParts = Pick<PipelineParts, "ledger" | "host" | "options" | "imagesAhead">;

/** The images that all stacks but `key` need, to remove that with its own. Throws as the engine does. */
export async function imagesOfOthers(
  parts: ImagesParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<NonNullable<Destroy["keptImages"]>> {
  const { ledger, host: { engine, images }, options } = parts;
  await images.nameFound(signal);
  const present = await engine.listImages(signal);
  const which = { retention: options.imageRetention, but: key };
  return orAhead(parts, key, await neededImages(ledger, present, which, signal));
}

/** Needed images, with those that other stacks' preparations may use whenever that is asked. */
function orAhead(
  { imagesAhead }: Pick<PipelineParts, "imagesAhead">,
  key: StackKey,
  needed: ReadonlySet<string>,
): NonNullable<Destroy["keptImages"]> {
  const own = formatStackKey(key);
  const isAhead = (id: string) =>
    [...imagesAhead].some(([stack, ids]) => stack !== own && ids.has(id));
  return { has: (id) => needed.has(id) || isAhead(id) };
}

/**
 * For removing a stack with its images: those besides its containers' images that may go (images of
 * hooks, mounted images, images kept for rollbacks), and those that other stacks need. Images of
 * swarm stacks stay, as other nodes keep theirs, too. Throws what the engine throws.
 */
export async function imagesToRemove(
  parts: ImagesParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<Pick<Destroy, "recordedImages" | "keptImages" | "ownNames">> {
  const { ledger, options } = parts;
  const present = await parts.host.engine.listImages(signal);
  const good = goodReleases(ledger, key, options.imageRetention + 1 + PAGE);
  const releases = good.slice(0, options.imageRetention + 1)
    .filter(({ swarm }) => swarm === undefined);
  return {
    recordedImages: [
      ...releases.flatMap(({ images }) => Object.values(images)),
      ...keptFor(key, present),
    ],
    ownNames: await ownNames(parts, key, good, signal),
    keptImages: await imagesOfOthers(parts, key, signal),
  };
}

/**
 * Ids of the images that any stack's current release, one of the `retention` good ones before it,
 * or one being deployed ran or names. Names count since a service without a container ran nothing,
 * and needs its image all the same.
 */
async function neededImages(
  ledger: Pick<Ledger, "currents" | "history" | "releasesUnderWay" | "services">,
  present: readonly ImageSummary[],
  { retention, but }: { readonly retention: number; readonly but?: StackKey },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const byTag = new Map(
    present.flatMap(({ id, tags }) => tags.map((tag) => [familiarName(tag), id] as const)),
  );
  const without = but === undefined ? undefined : formatStackKey(but);
  const stays = ({ key }: RecordedRelease) => formatStackKey(key) !== without;
  const needed = new Set<string>();
  const need = (release: RecordedRelease) => {
    const named = ledger.services(release).flatMap(imagesOf);
    for (const id of Object.values(release.images)) needed.add(id);
    for (const id of named.flatMap((each) => imageNamed(each, byTag))) needed.add(id);
  };
  const pauses = createPauses(1);
  for (const each of ledger.currents().filter(stays)) {
    signal.throwIfAborted();
    need(each);
    if (retention > 0) goodReleases(ledger, each.key, retention + 1).forEach(need);
    await pauses.after(1);
  }
  ledger.releasesUnderWay().filter(stays).forEach(need);
  return needed;
}

function imageNamed({ image }: NamedImage, byTag: ReadonlyMap<string, string>): string[] {
  const id = byTag.get(familiarName(image));
  return id === undefined ? [] : [id];
}

/** The newest good releases of a stack, at most `count`. Equal ones, as of repairs, count once. */
function goodReleases(ledger: Pick<Ledger, "history">, key: StackKey, count: number) {
  const found = new Map<string, RecordedRelease>();
  let before = Number.MAX_SAFE_INTEGER;
  while (found.size < count) {
    const page = ledger.history(key, PAGE, before);
    for (const release of page.filter((each) => each.status === "deployed")) {
      const images = Object.entries(release.images).sort().join(" ");
      const kind = `${release.digest} ${images}`;
      if (!found.has(kind)) found.set(kind, release);
    }
    if (page.length < PAGE) break;
    before = page.at(-1)?.number ?? 0;
  }
  return [...found.values()].slice(0, count);
}
