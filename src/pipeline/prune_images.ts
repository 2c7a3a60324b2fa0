import { type Destroy, observe, removeUnusedImages } from "../deploy/mod.ts";
import type { ImageSummary } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  familiarName,
  formatStackKey,
  imagesOf,
  isKeptName,
  messageOf,
  type NamedImage,
  type StackKey,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import { createPauses } from "../system/mod.ts";
import type { PipelineParts } from "./parts.ts";

/** Releases that are read at once while good ones are looked for. */
const PAGE = 8;

/**
 * Removes the images that the release which is deployed now replaced in a stack, and those that were
 * kept for releases which nobody goes back to any more. What a release of any stack needs stays.
 * `replaced` are the ids of what ran. Never fails a release that is healthy.
 */
export async function pruneImages(
  parts: PipelineParts,
  key: StackKey,
  replaced: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const { ledger, host: { engine }, options } = parts;
    const after = await observe(engine, { key }, signal);
    const running = new Set(after.containers.map((each) => each.imageId));
    const present = await engine.listImages(signal);
    const ids = new Set(present.map((each) => each.id));
    const good = goodReleases(ledger, key, Infinity);
    const earlier = options.imageRetention === 0 ? [] : good
      .slice(options.imageRetention + 1).flatMap((each) => Object.values(each.images));
    const candidates = [...replaced, ...earlier, ...keptFor(key, present)]
      .filter((id) => ids.has(id) && !running.has(id));
    if (candidates.length === 0) return;
    const retention = { retention: options.imageRetention };
    const kept = await neededImages(ledger, present, retention, signal);
    const goes = candidates.filter((id) => !kept.has(id));
    await removeUnusedImages(engine, goes, signal, await ownNames(parts, good, signal));
  } catch (error) {
    signal.throwIfAborted();
    const { name: stack, context } = key;
    parts.log.warning(`images were not pruned: ${messageOf(error)}`, { stack, context });
  }
}

/** Images that were built for a stack and kept when their names were taken, also those never released. */
function keptFor({ name }: StackKey, present: readonly ImageSummary[]): string[] {
  return present.filter(({ tags, labels }) =>
    labels[COMPOSE_LABELS.project] === name && tags.some(isKeptName)
  ).map(({ id }) => id);
}

/**
 * The names that releases which images are kept for, and a few before them, give to images, as engines
 * list them. What has a name that only older ones gave stays.
 */
async function ownNames(
  { ledger, options }: Pick<PipelineParts, "ledger" | "options">,
  good: readonly RecordedRelease[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const pauses = createPauses(1);
  for (const release of good.slice(0, options.imageRetention + 1 + PAGE)) {
    signal.throwIfAborted();
    const named = ledger.services(release).flatMap(imagesOf);
    for (const { image } of named) names.add(familiarName(image));
    await pauses.after(1);
  }
  return names;
}

/**
 * The images that the stacks but `key` need, when that one is removed with its images. Throws what
 * the engine throws.
 */
export async function imagesOfOthers(
  { ledger, host: { engine }, options }: Pick<PipelineParts, "ledger" | "host" | "options">,
  key: StackKey,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const present = await engine.listImages(signal);
  const which = { retention: options.imageRetention, but: key };
  return await neededImages(ledger, present, which, signal);
}

/**
 * The images that go with a stack beside those of its containers, which its hooks run, which it mounts,
 * or which were kept to go back to; and those that others need. A swarm's stay, as its nodes keep theirs.
 * Throws what the engine throws.
 */
export async function imagesToRemove(
  parts: Pick<PipelineParts, "ledger" | "host" | "options">,
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
    ...(good.length === 0 ? {} : { ownNames: await ownNames(parts, good, signal) }),
    keptImages: await imagesOfOthers(parts, key, signal),
  };
}

/**
 * Ids of the images that some stack's current release, one of the `retention` good ones before it, or
 * one that is being deployed ran or names. A service without a container ran nothing, and its image
 * is needed all the same.
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

/**
 * The newest good releases of a stack, at most `count`. A repair or a rollback records a release
 * again: equal ones count once.
 */
function goodReleases(
  ledger: Pick<Ledger, "history">,
  key: StackKey,
  count: number,
): RecordedRelease[] {
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
