import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ContainerMounts, EngineClient } from "../docker/mod.ts";
import {
  DEFAULT_CONTEXT,
  errors,
  formatStackKey,
  messageOf,
  type StackKey,
  stackKey,
} from "../model/mod.ts";
import { heldTrees, obsoleteTrees, type TreeHolder, type TreeSpan } from "../plan/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import { stackPlaceOf } from "../deploy/mod.ts";
import type { MirrorStore, TreeStore } from "../source/mod.ts";
import {
  type Clock,
  createKeyedLock,
  createPauses,
  type Files,
  type Log,
  sleepingUntil,
  withDeadline,
} from "../system/mod.ts";

/** Removes the trees that nothing needs any more. */
export interface TreeCollector {
  /**
   * Removes the trees that no release, no running container and no preparation needs. Never throws:
   * a tree that cannot be removed now is tried again later. May be called at any time: calls do
   * nothing while another one works, and for {@link PAUSE_MS} after a successful one.
   */
  collect(signal: AbortSignal): Promise<void>;
}

/** The engine of a context; without a client where it cannot be known. */
export interface TreeEngine {
  readonly context: string;
  readonly client?: Pick<EngineClient, "containerMounts" | "inspectContainer">;
}

/** Parts of {@link createTreeCollector}. */
export interface TreeCollectorParts {
  readonly trees: TreeStore;
  readonly mirrors: Pick<MirrorStore, "list" | "pathOf" | "removeUnused">;
  /** Returns the engines whose containers may have trees mounted. */
  readonly engines: (signal: AbortSignal) => Promise<readonly TreeEngine[]>;
  readonly ledger: Ledger;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  /** Data directory as this process sees it. */
  readonly dataDir: string;
  /** The data directory as the engine's host sees it. */
  readonly hostDataDir: string;
  /** Good releases before the current one whose trees are kept, so that going back is quick. */
  readonly previousReleases: number;
}

/** Milliseconds for which a tree counts as in use: longer than any preparation takes. */
const IN_USE_MS = 60 * 60 * 1000;
/**
 * Milliseconds between two collections: each looks at every stack, and nothing becomes collectable
 * sooner than {@link IN_USE_MS} after its last use.
 */
const PAUSE_MS = 10 * 60 * 1000;
const ASKED_AT_ONCE = 8;
/** Milliseconds for all these inspections together. */
const ANSWER_MS = 30_000;
/** Releases to read before the event loop gets a turn. */
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
  const inPlace = await treesInPlace(parts);
  const needed = new Set([...inPlace.values(), ...ofReleases]);
  const facts = { stored, needed, usedBefore, mirrored };
  // Asks the engines only when some tree is a candidate even without them.
  if (obsoleteTrees({ ...facts, held: heldTrees([]) }).length === 0) return;
  const held = heldTrees(await treeHolders(parts, inPlace, signal));
  if (held.sources.size > 0) {
    const sources = [...held.sources].map((each) => relative(dataDir, each)).join(", ");
    log.debug(`it is not known which trees of these sources containers hold: ${sources}`);
  }
  const removed: string[] = [];
  for (const path of obsoleteTrees({ ...facts, held })) {
    if (await trees.remove(path, usedBefore, signal)) removed.push(path);
  }
  if (removed.length === 0) return;
  ledger.shownTrees.forget(removed.map((path) => relative(dataDir, path)));
  log.info(`removed ${removed.length} trees of source files that nothing needs any more`);
}

/** Removes mirrors that no release needs; returns the tree directories of those that stay. */
async function collectMirrors(
  { mirrors, log }: TreeCollectorParts,
  { releases, usedBefore }: {
    readonly releases: readonly RecordedRelease[];
    readonly usedBefore: Date;
  },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const sources = releases.flatMap((each) => [each.revision, each.configuration ?? each.revision]);
  const needed = new Set(sources.flatMap(({ source }) => mirrors.pathOf(source) ?? []));
  const removed = await mirrors.removeUnused({ needed, usedBefore }, signal);
  if (removed > 0) {
    log.info(`removed ${removed} mirrors of repositories that nothing needs any more`);
  }
  return new Set((await mirrors.list()).map(({ path }) => join(dirname(dirname(path)), "trees")));
}

/** The trees that the `current` links of all stacks lead to, by the stack's formatted key. */
async function treesInPlace(
  { files, dataDir }: TreeCollectorParts,
): Promise<ReadonlyMap<string, string>> {
  const root = join(dataDir, "releases");
  const found = new Map<string, string>();
  for (const context of await files.list(root)) {
    for (const name of await files.list(join(root, context))) {
      const stack = join(root, context, name);
      const target = await files.readLink(join(stack, "current"));
      if (target === undefined) continue;
      found.set(formatStackKey({ context, name }), resolve(stack, target));
    }
  }
  return found;
}

/** Current releases, the kept ones before them, and those being deployed by any process. */
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

/** One release per digest: the newest, given releases in order from newest to oldest. */
export function firstOfEachDigest(releases: readonly RecordedRelease[]): RecordedRelease[] {
  const seen = new Set<string>();
  return releases.filter(({ digest }) => !seen.has(digest) && seen.add(digest));
}

/** The running containers that see files of trees; one of each stack of an engine that does not tell. */
async function treeHolders(
  parts: TreeCollectorParts,
  inPlace: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<TreeHolder[]> {
  const { engines, ledger } = parts;
  const holders: TreeHolder[] = [];
  const seen: Seeing[] = [];
  const stacks = ledger.deployedStacks().map(({ key }) => key);
  const deployed = Map.groupBy(stacks, ({ name }) => name);
  const known = new Map<string, readonly TreeSpan[]>();
  const spansOf = (key: StackKey) =>
    known.getOrInsertComputed(formatStackKey(key), () => spansOfStack(parts, inPlace, key));
  for (const engine of await engines(signal)) {
    const { context, client } = engine;
    // What another context's engine tells, or does not, keeps the trees of its own stacks alone.
    const isIts = (key: StackKey) => context === DEFAULT_CONTEXT || key.context === context;
    const all = await described(engine, parts, signal);
    if (all === undefined || client === undefined) {
      const its = stacks.filter(isIts).map(spansOf);
      holders.push(...its.map((spans) => ({ stacks: [spans], startedAt: undefined })));
      continue;
    }
    for (const container of all.filter((each) => !ABSENT.has(each.state))) {
      const keys = stacksSeen(container, deployed, parts).filter(isIts);
      if (keys.length > 0) seen.push({ context, engine: client, id: container.id, keys });
    }
  }
  const starts = await startsOf(parts, seen, signal);
  // A container that is gone by now holds no tree.
  const there = seen.filter((each) => starts.has(nameOf(each)));
  return holders.concat(there.map((each) => ({
    stacks: each.keys.map(spansOf),
    startedAt: starts.get(nameOf(each)),
  })));
}

/** The trees of a stack, oldest first; as after a loss of the ledger, the one in place since now. */
function spansOfStack(
  { ledger, dataDir, clock }: TreeCollectorParts,
  inPlace: ReadonlyMap<string, string>,
  key: StackKey,
): TreeSpan[] {
  const shown = ledger.shownTrees.of(key);
  const path = inPlace.get(formatStackKey(key));
  if (shown.length === 0 && path !== undefined) return [{ path, beganAt: clock.now() }];
  return shown.map((each) => ({ ...each, path: join(dataDir, each.tree) }));
}

/** The containers of an engine; `undefined` where another context's engine does not tell. */
async function described(
  { context, client }: TreeEngine,
  { log }: Pick<TreeCollectorParts, "log">,
  signal: AbortSignal,
): Promise<ContainerMounts[] | undefined> {
  try {
    return await client?.containerMounts(signal);
  } catch (error) {
    if (signal.aborted || context === DEFAULT_CONTEXT) throw error;
    log.debug("trees of this context's stacks are kept: its engine does not tell", {
      context,
      error,
    });
    return undefined;
  }
}

/** A container that sees files of stacks. */
interface Seeing {
  readonly context: string;
  readonly engine: Pick<EngineClient, "inspectContainer">;
  readonly id: string;
  readonly keys: readonly StackKey[];
}

function nameOf({ context, id }: Pick<Seeing, "context" | "id">): string {
  return `${context} ${id}`;
}

/**
 * Start times of containers by name, without containers that are gone. The time is `undefined` where
 * the engine does not answer in time: inspecting a single container may hang, such as one being
 * started with a log driver that waits for its server.
 */
async function startsOf(
  { clock }: Pick<TreeCollectorParts, "clock">,
  containers: readonly Seeing[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Date | undefined>> {
  const starts = new Map<string, Date | undefined>(
    containers.map((each) => [nameOf(each), undefined]),
  );
  const places = createKeyedLock(ASKED_AT_ONCE);
  const ask = ({ context, engine, id }: Seeing, within: AbortSignal) =>
    places.run(context, async () => {
      const details = await engine.inspectContainer(id, within);
      const name = nameOf({ context, id });
      if (details === undefined) starts.delete(name);
      else starts.set(name, details.startedAt);
    }, within);
  const late = () => errors.timeout("an engine does not tell of its containers");
  const deadline = { clock: sleepingUntil(clock), milliseconds: ANSWER_MS, late };
  const all = (within: AbortSignal) =>
    Promise.allSettled(containers.map((each) => ask(each, within)));
  await withDeadline(deadline, all, signal);
  signal.throwIfAborted();
  return starts;
}

/** The stacks whose `current` a container mounts, by path or named volume; `deployed` are all, by name. */
function stacksSeen(
  container: ContainerMounts,
  deployed: ReadonlyMap<string, readonly StackKey[]>,
  { hostDataDir, ledger }: Pick<TreeCollectorParts, "hostDataDir" | "ledger">,
): StackKey[] {
  const keys = new Map<string, StackKey>();
  const add = (key: StackKey) => keys.set(formatStackKey(key), key);
  for (const mount of container.mounts) {
    const place = stackPlaceOf(hostDataDir, mount);
    if (place?.kind === "current") add(place.key);
  }
  // A named volume may be bound to a path in a tree; the list of containers does not show it.
  const name = container.deployment;
  const hasVolume = container.mounts.some((each) => !isAbsolute(each));
  if (hasVolume && name !== "") {
    // All contexts with a stack of this name count: keeping a tree too long is harmless.
    deployed.get(name)?.forEach(add);
    // Without a history here, the stack belongs to another Stackwright on the same engine.
    const own = stackKey("", name);
    if (ledger.history(own, 1).length > 0) add(own);
  }
  return [...keys.values()];
}
