import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ContainerSummary, EngineClient } from "../docker/mod.ts";
import {
  errors,
  formatStackKey,
  LABELS,
  messageOf,
  type StackKey,
  stackKey,
} from "../model/mod.ts";
import { obsoleteTrees, type TreeHolders } from "../plan/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import type { MirrorStore, TreeStore } from "../source/mod.ts";
import {
  type Clock,
  createLimiter,
  createPauses,
  type Files,
  type Log,
  sleepingUntil,
  withDeadline,
} from "../system/mod.ts";

/** Removes the trees that nothing needs any more. */
export interface TreeCollector {
  /**
   * Looks at all trees and removes those no release, no running container and no preparation needs.
   * Never throws: what could not be removed now is tried again another time. May be called at any
   * time; while one call works, and for {@link PAUSE_MS} after one that did, others do nothing.
   */
  collect(signal: AbortSignal): Promise<void>;
}

/** Parts of {@link createTreeCollector}. */
export interface TreeCollectorParts {
  readonly trees: TreeStore;
  readonly mirrors: Pick<MirrorStore, "list" | "removeUnused">;
  /**
   * The engines whose containers may have trees mounted: throws where one that has stacks of ours
   * cannot be asked.
   */
  readonly engines: (
    signal: AbortSignal,
  ) => Promise<readonly Pick<EngineClient, "describeContainers" | "inspectContainer">[]>;
  readonly ledger: Ledger;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  /** Data directory as this process sees it. */
  readonly dataDir: string;
  /** The same directory as the engine's host sees it. */
  readonly hostDataDir: string;
  /** Good releases before the current one whose trees are kept, so that going back is quick. */
  readonly previousReleases: number;
}

/** Longer than any preparation takes, in milliseconds: what was asked for since is in use. */
const IN_USE_MS = 60 * 60 * 1000;
/**
 * Milliseconds between two collections: each looks at every stack there is, and nothing becomes
 * collectable any sooner than after an hour.
 */
const PAUSE_MS = 10 * 60 * 1000;
/** Containers of which engines are asked at once. */
const ASKED_AT_ONCE = 8;
/** Milliseconds in which engines are to tell of all of them. */
const ANSWER_MS = 30_000;
/** Releases that are read before everything else gets its turn. */
const RELEASES_AT_ONCE = 100;
const ABSENT = new Set(["created", "exited", "dead", "removing"]);

/** Makes the collector of trees. */
export function createTreeCollector(parts: TreeCollectorParts): TreeCollector {
  let works = false;
  let next = 0;
  return {
    async collect(signal) {
      const now = parts.clock.now().getTime();
      if (works || now < next) return;
      works = true;
      try {
        await collect(parts, signal);
        next = now + PAUSE_MS;
      } catch (error) {
        if (signal.aborted) return;
        parts.log.warning(`old trees were not removed: ${messageOf(error)}`, { error });
      } finally {
        works = false;
      }
    },
  };
}

async function collect(parts: TreeCollectorParts, signal: AbortSignal): Promise<void> {
  const { trees, ledger, clock, log, dataDir } = parts;
  const usedBefore = new Date(clock.now().getTime() - IN_USE_MS);
  const releases = await neededReleases(parts, signal);
  const mirrored = await collectMirrors(parts, { releases, usedBefore }, signal);
  const stored = await trees.list();
  const ofReleases = releases.map((each) => trees.pathOf(each.revision));
  const needed = new Set([...await treesInPlace(parts), ...ofReleases]);
  const facts = { stored, needed, usedBefore, mirrored };
  // The engine is asked only when there may be something to do.
  if (obsoleteTrees({ ...facts, holders: [] }).length === 0) return;
  const holders = await treeHolders(parts, signal);
  const removed: string[] = [];
  for (const path of obsoleteTrees({ ...facts, holders })) {
    if (await trees.remove(path, usedBefore, signal)) removed.push(path);
  }
  if (removed.length === 0) return;
  ledger.shownTrees.forget(removed.map((path) => relative(dataDir, path)));
  log.info(`removed ${removed.length} trees of source files that nothing needs any more`);
}

/** Removes mirrors that no release needs; returns the directories for trees beside those that stay. */
async function collectMirrors(
  { mirrors, log }: TreeCollectorParts,
  { releases, usedBefore }: {
    readonly releases: readonly RecordedRelease[];
    readonly usedBefore: Date;
  },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const sources = releases.flatMap((each) => [each.revision, each.configuration ?? each.revision]);
  const needed = new Set(sources.map(({ source }) => source.name));
  const removed = await mirrors.removeUnused({ needed, usedBefore }, signal);
  if (removed > 0) {
    log.info(`removed ${removed} mirrors of repositories that nothing needs any more`);
  }
  return new Set((await mirrors.list()).map(({ path }) => join(dirname(path), "trees")));
}

/** The trees that `current` of each stack leads to. */
async function treesInPlace({ files, dataDir }: TreeCollectorParts): Promise<string[]> {
  const root = join(dataDir, "releases");
  const found: string[] = [];
  for (const context of await files.list(root)) {
    for (const name of await files.list(join(root, context))) {
      const stack = join(root, context, name);
      const target = await files.readLink(join(stack, "current"));
      if (target !== undefined) found.push(resolve(stack, target));
    }
  }
  return found;
}

/** Current releases, some before them, and what is being deployed, here or elsewhere. */
async function neededReleases(
  { ledger, previousReleases }: TreeCollectorParts,
  signal: AbortSignal,
): Promise<RecordedRelease[]> {
  const releases: RecordedRelease[] = [...ledger.releasesUnderWay()];
  const pauses = createPauses(RELEASES_AT_ONCE);
  for (const current of ledger.currents()) {
    signal.throwIfAborted();
    const earlier = ledger.history(current.key, (previousReleases + 1) * 10)
      .filter((each) => each.status === "deployed" && each.number < current.number)
      .filter((each) => each.digest !== current.digest);
    releases.push(current, ...firstOfEachDigest(earlier).slice(0, previousReleases));
    await pauses.after(earlier.length + 1);
  }
  return releases;
}

/** The newest of equal releases, where the newest come first. */
export function firstOfEachDigest(releases: readonly RecordedRelease[]): RecordedRelease[] {
  const seen = new Set<string>();
  return releases.filter(({ digest }) => !seen.has(digest) && seen.add(digest));
}

/** Times at which the running containers that see files of a tree were started, stack by stack. */
async function treeHolders(parts: TreeCollectorParts, signal: AbortSignal): Promise<TreeHolders[]> {
  const { engines, ledger, dataDir } = parts;
  const started = new Map<string, { key: StackKey; startedAt: (Date | undefined)[] }>();
  const seen: Seeing[] = [];
  const deployed = Map.groupBy(ledger.deployedStacks().map(({ key }) => key), ({ name }) => name);
  for (const engine of await engines(signal)) {
    const all = await engine.describeContainers({}, signal);
    for (const container of all.filter((each) => !ABSENT.has(each.state))) {
      const keys = stacksSeen(container, deployed, parts);
      if (keys.length > 0) seen.push({ engine, id: container.id, keys });
    }
  }
  const starts = await startsOf(parts, seen, signal);
  for (const { id, keys } of seen) {
    // One that is gone by now holds nothing.
    if (!starts.has(id)) continue;
    for (const key of keys) {
      const name = formatStackKey(key);
      const known = started.get(name) ?? { key, startedAt: [] };
      known.startedAt.push(starts.get(id));
      started.set(name, known);
    }
  }
  return [...started.values()].map(({ key, startedAt }) => ({
    spans: ledger.shownTrees.of(key).map((each) => ({ ...each, path: join(dataDir, each.tree) })),
    startedAt,
  }));
}

/** A container that sees files of stacks. */
interface Seeing {
  readonly engine: Pick<EngineClient, "inspectContainer">;
  readonly id: string;
  readonly keys: readonly StackKey[];
}

/**
 * The times at which containers were started, by their ids, without those that are gone. An engine may
 * never answer about a single container, such as one that is being started with a log driver that waits
 * for its server: of those that are not told in time it is `undefined`.
 */
async function startsOf(
  { clock }: Pick<TreeCollectorParts, "clock">,
  containers: readonly Seeing[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Date | undefined>> {
  const starts = new Map<string, Date | undefined>(containers.map(({ id }) => [id, undefined]));
  const limiter = createLimiter(ASKED_AT_ONCE);
  const ask = ({ engine, id }: Seeing, within: AbortSignal) =>
    limiter.run(async () => {
      const details = await engine.inspectContainer(id, within);
      if (details === undefined) starts.delete(id);
      else starts.set(id, details.startedAt);
    }, within);
  const late = () => errors.timeout("an engine does not tell of its containers");
  const deadline = { clock: sleepingUntil(clock), milliseconds: ANSWER_MS, late };
  const all = (within: AbortSignal) =>
    Promise.allSettled(containers.map((each) => ask(each, within)));
  await withDeadline(deadline, all, signal);
  signal.throwIfAborted();
  return starts;
}

/**
 * The stacks whose `current` a container has mounted, by path or behind a named volume; `deployed` has all
 * that are deployed, by name.
 */
function stacksSeen(
  container: ContainerSummary,
  deployed: ReadonlyMap<string, readonly StackKey[]>,
  { hostDataDir, ledger }: Pick<TreeCollectorParts, "hostDataDir" | "ledger">,
): StackKey[] {
  const root = join(hostDataDir, "releases");
  const keys = new Map<string, StackKey>();
  const add = (key: StackKey) => keys.set(formatStackKey(key), key);
  for (const mount of container.mounts) {
    const [context = "", name = "", place] = relative(root, mount).split("/");
    if (isAbsolute(mount) && place === "current") add({ context, name });
  }
  // A named volume may stand for a path of the tree; the list does not say.
  const name = container.labels[LABELS.deployment];
  const hasVolume = container.mounts.some((each) => !isAbsolute(each));
  if (hasVolume && name !== undefined) {
    // Of whichever context: a tree too many is kept rather than one too few.
    deployed.get(name)?.forEach(add);
    // A stack of another Stackwright on the same engine has nothing of ours.
    const own = stackKey("", name);
    if (ledger.history(own, 1).length > 0) add(own);
  }
  return [...keys.values()];
}
