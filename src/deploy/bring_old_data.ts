import { join } from "node:path";
import {
  askingSource,
  fewOf,
  type HaltedPolicies,
  type ObservedContainer,
  type ObservedStack,
  own,
  type Plan,
  type Progress,
  type Release,
  type ServicePlan,
  type StackKey,
} from "../model/mod.ts";
import { type Log, procText, type Slot } from "../system/mod.ts";
import { diskMounts, mountBelow } from "./disk_places.ts";
import { holdsOurs } from "./holds_ours.ts";
import { readFilesRecord } from "./files_record.ts";
import { findOldData, isKeptOrphans, type OldData } from "./old_data.ts";
import {
  type HaltedOrphan,
  haltedOrphans,
  type Halts,
  keepDown,
  letReturn,
  othersOrphans,
  policiesOf,
  removedBy,
  requireRoomBeside,
} from "./left_orphans.ts";
import { sharersOf } from "./old_data_sharers.ts";
import { ours, takenAway, twofold, unreachable, unseen } from "./old_data_refusals.ts";
import { stackDirectories } from "./stack_files.ts";
import {
  copy,
  holdsSomething,
  holdsSomethingSeen,
  liveHolds,
  type OldDataParts,
  rehearse,
  removeEach,
  type ToBring,
} from "./copy_old_data.ts";

/**
 * Adds to a plan that data in relative mounts is copied below `live` before the containers are replaced
 * that somebody else made, or Stackwright with another data directory. Warns of data that containers of
 * others mount, too, but for `jobs`, which have ended before. Says which orphans are stopped.
 *
 * Throws `conflict` where an orphan has a port or name that a service needs, where the data cannot be
 * reached from here and is not in place yet, and where somebody else deployed a stack of ours in
 * between, so that two copies exist. Throws `path_escapes` for data of Stackwright itself, which a
 * container that a person started may mount.
 */
export async function withOldData(
  parts: OldDataParts & { readonly log: Pick<Log, "warning"> },
  release: Release,
  observed: ObservedStack & { readonly jobs: ObservedStack["containers"] },
  plan: Plan,
  signal: AbortSignal,
): Promise<Plan> {
  if (plan.kind !== "deploy") return plan;
  const { wanted, committed } = await toBring(parts, release, observed, signal);
  const { key, key: { context, name } } = release;
  const { live } = stackDirectories(parts.host.dataDir, key);
  const asked = { release, services: plan.services, observed };
  const halted = await toHalt(parts, asked, wanted, signal);
  const goes = removedBy(plan.services);
  const left = othersOrphans(release, observed).filter(({ service }) => !goes.has(service));
  const isHalted = (each: ObservedContainer) =>
    halted.some(({ container }) => container.id === each.id);
  const then = left.map((each) => isHalted(each) ? { ...each, hostPorts: [] } : each);
  requireRoomBeside(then, release, plan);
  const goesOn = left.filter((each) => each.state === "running" && !isHalted(each));
  const us = { name, left: goesOn, ended: observed.jobs };
  const sharers = await sharersOf(parts, us, wanted.map(({ data }) => data), signal);
  for (const [source, others] of sharers) {
    const text =
      `${source} is mounted by ${others}, too: ${name} gets a copy, and they share nothing ` +
      "from then on; to go on sharing, give them an absolute path or a named volume before";
    parts.log.warning(text, { stack: name, context });
  }
  const told = [
    ...wanted.map(({ data }) => {
      const others = sharers.get(data.source);
      const shared = others === undefined
        ? ""
        : `; also mounted by ${others}: nothing is shared with the copy`;
      const how =
        `is copied to ${join(live, data.path)} first and stays there, too; files of the commit ` +
        `replace their copies${shared}`;
      return { data, how };
    }),
    ...committed.map((data) => ({ data, how: "stays there: the commit's version is used" })),
  ];
  const services = withReasons(plan, told, halted);
  const sources = fewOf(wanted.map(({ data }) => data.source));
  const stopped = halted.map(({ container }) => container)
    .filter(({ service }) => !goes.has(service)).map(nameOf);
  const message = plan.message + (sources === "" ? "" : `; with the data in ${sources}`) +
    (stopped.length === 0 ? "" : `; stop ${fewOf(stopped)}`);
  return { ...plan, message, services };
}

/** The services of a plan with what becomes of data, and the orphans that are stopped. */
function withReasons(
  plan: Plan,
  told: readonly { readonly data: OldData; readonly how: string }[],
  halted: readonly HaltedOrphan[],
): ServicePlan[] {
  // Where orphans are never removed, the plan has no line of theirs.
  const named = new Set(plan.services.map(nameOf));
  const unnamed = new Set(halted.map(({ container }) => container.service));
  const more = [...unnamed].filter((name) => !named.has(name)).map((name) => (
    { name, action: "keep", because: [] } as const
  ));
  return [...plan.services, ...more].map((each) => {
    const because = told.filter(({ data }) => data.service === each.name).map(({ data, how }) =>
      `what ${data.source} holds (${
        data.isAssumed ? "which no container mounts, for" : "mounted at"
      } ${data.target}) ${how}`
    );
    const halts = halted.filter(({ container }) => container.service === each.name).map((
      { container, why },
    ) => `container ${container.name} is stopped first, and stays so (restart: no): ${why}`);
    return { ...each, because: [...each.because, ...because, ...halts] };
  });
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** The orphans to stop for good where some data is `wanted`. */
function toHalt(
  parts: OldDataParts,
  asked: Pick<Parameters<typeof haltedOrphans>[1], "services" | "observed"> & { release: Release },
  wanted: readonly ToBring[],
  signal: AbortSignal,
): Promise<HaltedOrphan[]> {
  const writers = new Set(wanted.flatMap(({ data }) => data.writers.map(({ id }) => id)));
  const before = () => modelBefore(parts, asked.release.key);
  return haltedOrphans(parts.host.engine, { ...asked, writers, before }, signal);
}

/** What was done before the containers are replaced. */
export interface Brought {
  /** Paths below `live` of what was copied, also by a process that was killed. */
  readonly copied: readonly string[];
  /** What was stopped so that no engine starts it again, also by a process that was killed. */
  readonly halted: HaltedPolicies;
}

/**
 * Copies the data that {@link withOldData} announces, and stops the orphans that it names.
 * Containers that may write to it are stopped once a rehearsal showed that it can be copied, and
 * started again when the copy fails; the original is only read. Data in place already is skipped.
 * An engine that starts meanwhile starts none of them: what they wrote then would not be in the copy.
 *
 * Throws as {@link withOldData} does, and `data_dir_unusable` when it cannot be copied.
 */
export async function bringOldData(
  parts: OldDataParts,
  { release, services, observed, halts, progress, slot }: {
    readonly release: Release;
    /** What the plan does to each service. */
    readonly services: readonly ServicePlan[];
    readonly observed: ObservedStack;
    readonly halts: Halts;
    readonly progress: Progress;
    /** Given to others while data is copied; whoever goes on takes it again. */
    readonly slot: Slot;
  },
  signal: AbortSignal,
): Promise<Brought> {
  const { host: { engine } } = parts;
  const [stopped, copied]: [Set<string>, string[]] = [new Set(), []];
  let halted: HaltedPolicies = {};
  const stop = async ({ id, name }: ObservedContainer, why: string) => {
    if (stopped.has(id)) return;
    stopped.add(id);
    progress(`stopping ${name}, ${why}`);
    await keepDown(engine, id, halted, signal);
    await engine.stopContainer(id, undefined, signal);
  };
  try {
    // Of an attempt that was cut off before anything ran on them; the original went on since, maybe.
    await removeEach(parts, release.key, halts.had.copying, signal);
    const { wanted } = await toBring(parts, release, observed, signal);
    if (wanted.length > 0) slot.leave();
    for (const each of wanted) await rehearse(parts, release.key, each, signal);
    const orphans = await toHalt(parts, { release, services, observed }, wanted, signal);
    const writers = wanted.flatMap(({ data }) => data.writers);
    halted = await policiesOf(engine, { orphans, writers, ...halts }, signal);
    const all = { ...halts.had.halted, ...halted };
    const copying = wanted.map(({ data }) => data.path);
    const isNew = orphans.length + copying.length + halts.had.copying.length > 0;
    if (isNew) halts.note({ halted: all, copying, copied: halts.had.copied });
    for (const { container } of orphans) {
      await stop(container, "whose place another service takes");
    }
    for (const { data } of wanted) {
      for (const each of data.writers) await stop(each, "whose data is brought along");
      // A container that was stopped just now may have put a link in its place.
      const local = await locate(parts, release.key, data, signal);
      await copy(parts, release.key, { data, local, progress }, signal);
      copied.push(data.path);
    }
    const done = { copied: [...halts.had.copied, ...copied], halted: all };
    if (isNew) halts.note({ ...done, copying: [] });
    return done;
  } catch (error) {
    if (signal.aborted) throw error;
    // The restarted containers write to the original: no copy stays, also for the next attempt.
    await removeEach(parts, release.key, [...halts.had.copying, ...copied], signal);
    await letReturn(engine, halted, signal, ({ id }) => stopped.has(id));
    halts.note({ ...halts.had, copying: [] });
    throw error;
  }
}

/** The model of what is deployed. */
export function modelBefore(
  { ledger }: Pick<OldDataParts, "ledger">,
  key: StackKey,
): Release["model"] | undefined {
  const current = ledger.current(key);
  return current === undefined ? undefined : ledger.open(current as never).model;
}

/** Finds the data to copy, and single files of which the commit has a version of its own. */
async function toBring(
  parts: OldDataParts,
  release: Release,
  observed: ObservedStack,
  signal: AbortSignal,
): Promise<{ readonly wanted: readonly ToBring[]; readonly committed: readonly OldData[] }> {
  const { key, live: { files } } = release;
  const { dataDir } = parts.host;
  const hostLive = stackDirectories(dataDir, key).live;
  const { live, stack } = stackDirectories(parts.options.dataDir, key);
  const found = await findOldData(parts.host.engine, { ...release, dataDir }, observed, signal);
  // With an earlier release, or kept by a destroy, the content of `live` is older than this adoption.
  const current = parts.ledger.current(key);
  const before = found.length > 0 && modelBefore(parts, key) || {};
  const cameBack = current !== undefined ||
    (await readFilesRecord(parts.files, stack))?.keptFor !== undefined;
  const [wanted, twice]: [ToBring[], ToBring[]] = [[], []];
  const committed: OldData[] = [];
  for (const data of found) {
    if (own(files, data.path) !== undefined) {
      committed.push(data);
      continue;
    }
    const isThere = await liveHolds(parts.files, live, data.path);
    if (isThere && !(cameBack && data.writable) || isKeptOrphans(data, before)) continue;
    if (isThere && await isMoved(parts, data, join(live, data.path), signal)) continue;
    if (data.isAssumed && !await holdsSomethingSeen(parts, data.source, signal)) continue;
    requireOwnData(release, data, join(hostLive, data.path));
    const local = await locate(parts, key, data, signal);
    if (!await holdsSomething(parts.files, local)) continue;
    (isThere ? twice : wanted).push({ data, local });
  }
  if (twice.length > 0) throw twofold(key, hostLive, twice.map(({ data }) => data));
  return { wanted, committed };
}

/**
 * Whether data of another data directory is at its new `place`: that directory is this one under
 * another path, or was moved here. A directory that this process cannot see may still be there.
 */
async function isMoved(
  { files, host }: OldDataParts,
  { owner, source }: OldData,
  place: string,
  signal: AbortSignal,
): Promise<boolean> {
  const seen = owner === undefined ? undefined : await host.localPath(source, signal);
  if (seen === undefined) return false;
  const real = await files.realPath(seen);
  if (real === undefined) return true;
  return (await files.stat(real))?.id === (await files.stat(place))?.id;
}

/** Throws for data that a container of another source has, after a person handed the stack over. */
function requireOwnData(release: Release, data: OldData, place: string): void {
  if (data.owner === undefined || data.owner === askingSource(release)) return;
  throw unreachable(release.key, data, place, {
    why: `which is labelled as that of ${data.owner}`,
  });
}

/** Where this process sees the data; throws for what is not copied. */
async function locate(
  { files, host, options }: OldDataParts,
  key: StackKey,
  data: OldData,
  signal: AbortSignal,
): Promise<string> {
  const place = join(stackDirectories(host.dataDir, key).live, data.path);
  const seen = await host.localPath(data.source, signal);
  if (seen === undefined) throw unseen(key, data, place);
  const local = await files.realPath(seen);
  if (local === undefined) throw takenAway(key, data, place);
  if (await holdsOurs(files, options, local)) throw ours(key, data);
  // Its author chose the mount, and another container may have any directory on the way to it.
  if (data.owner !== undefined && local !== seen) {
    const why = "to which a link leads, and a container may have made it (look where it leads)";
    throw unreachable(key, data, place, { why });
  }
  const mounts = diskMounts(await procText(files, "/proc/self/mountinfo"));
  const below = mountBelow(local, mounts);
  if (below === undefined) return local;
  const why = `in which ${below} is another mount, which Stackwright does not copy`;
  throw unreachable(key, data, place, { why, way: "unmount that" });
}
