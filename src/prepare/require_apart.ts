import {
  followedPaths,
  mapServices,
  objectsAt,
  parentsOf,
  pathRelation,
  resourcesOf,
  servicesOf,
  textAt,
  usedOf,
  volumesFrom,
} from "../compose/mod.ts";
import {
  type ComposeStarts,
  diskMounts,
  onDisk,
  RealTree,
  withPlainDollars,
} from "../deploy/mod.ts";
import { COMPOSE_LABELS, type ComposeModel, errors } from "../model/mod.ts";
import { procText } from "../system/mod.ts";
import { existingVolumes } from "./existing_volumes.ts";
import type { PrepareParts } from "./parts.ts";
import { nearest } from "./real_paths.ts";

/** A path of the engine's host that a container mounts. */
interface Place {
  /** Its use, for messages: `service web: volume`. */
  readonly what: string;
  readonly path: string;
}

/** States of containers whose processes may write. */
const RUNS: readonly string[] = ["running", "restarting", "paused"];

/**
 * Refuses mounts of services that docker compose starts where another container may replace them by a link:
 * in a directory that one of the stack, or one that runs, has with the right to write. Compose runs hooks,
 * and waits for dependencies, between Stackwright's look at where mounts lead and its start.
 *
 * Containers that mount a directory around the data directory count for nothing: they have all of it.
 *
 * Throws `unsupported`, and what the engine throws.
 */
export async function requireApart(
  parts: Pick<PrepareParts, "files" | "host">,
  name: string,
  rendered: ComposeModel,
  starts: ComposeStarts,
  signal: AbortSignal,
): Promise<void> {
  const model = withPlainDollars(rendered);
  const inner = await startedPlaces(parts, model, starts, signal);
  if (inner.length === 0) return;
  const { services, volumes } = mapServices(model, (service) => ({
    volumes: objectsAt(service, "volumes").filter((each) => each["read_only"] !== true),
  }));
  const outer = [
    ...await placesOf(parts, onlyUsed({ name: model["name"], services, volumes }), signal),
    ...await runningPlaces(parts, name, starts, signal),
  ];
  const found = await firstInside(parts, inner, outer);
  if (found === undefined) return;
  const { because } = starts;
  throw errors.unsupported(
    `deployment ${name}: ${found.inner.what} mounts ${found.inner.path}, which lies in ` +
      `${found.outer.path}, where others may write (${found.outer.what}): docker compose starts these ` +
      `containers (${because}), and a link that is put there meanwhile would lead them to any file of the ` +
      "host. No container was made; mount directories beside each other, mount the outer one read-only, " +
      `or take ${because} away; a container that still runs with the outer one has to end first`,
  );
}

/** What the containers that compose starts mount, by way of others too. */
async function startedPlaces(
  parts: Pick<PrepareParts, "host">,
  model: ComposeModel,
  { services }: ComposeStarts,
  signal: AbortSignal,
): Promise<Place[]> {
  const from = volumesFrom(model);
  const names = new Set(services.flatMap((each) => [each, ...from.get(each)?.services ?? []]));
  const started = Object.entries(servicesOf(model)).filter(([each]) => names.has(each));
  const part = onlyUsed({ ...model, services: Object.fromEntries(started) });
  const lent: Place[] = [];
  for (
    const container of new Set([...names].flatMap((each) => [...from.get(each)?.containers ?? []]))
  ) {
    lent.push(...await mountedBy(parts, container, () => true, signal));
  }
  return [...await placesOf(parts, part, signal), ...lent];
}

/** What running containers of the engine mount with the right to write. */
async function runningPlaces(
  parts: Pick<PrepareParts, "host">,
  name: string,
  starts: ComposeStarts,
  signal: AbortSignal,
): Promise<Place[]> {
  const running = await parts.host.engine.everyContainer(({ id, state, service, labels }) => {
    // What is replaced has ended when compose starts what comes after it.
    const isOwn = labels[COMPOSE_LABELS.project] === name && starts.services.includes(service);
    return RUNS.includes(state) && !isOwn ? id : undefined;
  }, signal);
  const found: Place[] = [];
  for (const id of running) {
    found.push(...await mountedBy(parts, id, ({ writable }) => writable, signal));
  }
  return found;
}

async function mountedBy(
  parts: Pick<PrepareParts, "host">,
  id: string,
  counts: (mount: { readonly writable: boolean }) => boolean,
  signal: AbortSignal,
): Promise<Place[]> {
  const details = await parts.host.engine.inspectContainer(id, signal);
  const mounts = details?.mounts.filter(counts) ?? [];
  const what = `container ${details?.container.name ?? id}`;
  const named = mounts.filter(({ kind, name }) => kind === "volume" && name !== "")
    .map(({ name }) => [name, { name }]);
  const { paths } = await existingVolumes(
    parts.host,
    { services: {}, volumes: Object.fromEntries(named) },
    signal,
  );
  const binds = mounts.filter(({ kind }) => kind === "bind").map(({ source }) => source);
  return [...binds, ...paths.map(({ path }) => path)].map((path) => ({ what, path }));
}

/** Paths that the engine mounts for a model, those of volumes as they are and as they would be made. */
async function placesOf(
  parts: Pick<PrepareParts, "host">,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<Place[]> {
  const existing = await existingVolumes(parts.host, model, signal);
  return [...followedPaths(model).paths, ...existing.paths].filter(({ by }) => by === "engine");
}

/** The model without the volumes, configs and secrets that none of its services uses. */
function onlyUsed(model: ComposeModel): ComposeModel {
  const mounts = Object.values(servicesOf(model)).flatMap((each) => objectsAt(each, "volumes"));
  const used = {
    volumes: new Set(mounts.map((each) => textAt(each, "source"))),
    configs: usedOf(model, "configs"),
    secrets: usedOf(model, "secrets"),
  };
  const kept = (["volumes", "configs", "secrets"] as const).map((kind) => {
    const those = resourcesOf(model, kind).filter(({ key }) => used[kind].has(key));
    return [
      kind,
      Object.fromEntries(those.map(({ key, name, definition }) => [key, { ...definition, name }])),
    ];
  });
  return { ...model, ...Object.fromEntries(kept) };
}

/** The first place that lies in another one, but not in one around the data directory. */
async function firstInside(
  { files, host }: Pick<PrepareParts, "files" | "host">,
  inner: readonly Place[],
  outer: readonly Place[],
): Promise<{ readonly inner: Place; readonly outer: Place } | undefined> {
  const root = new RealTree(files, "/");
  const mounts = diskMounts(await procText(files, "/proc/self/mountinfo"));
  const known = new Map<string, readonly string[]>();
  const waysTo = async (path: string) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const real = `/${await nearest(root, path.slice(1)).catch(() => undefined) ?? path.slice(1)}`;
    const ways = [...new Set([path, real, onDisk(real, mounts)])];
    known.set(path, ways);
    return ways;
  };
  const data = await waysTo(host.dataDir);
  const around = new Map<string, Place>();
  for (const each of outer) {
    const ways = await waysTo(each.path);
    if (data.some((mine) => ways.some((way) => pathRelation(mine, way) === "inside"))) continue;
    for (const way of ways) around.set(way, each);
  }
  // Each path is looked up by its parents: there may be thousands on both sides.
  for (const each of inner) {
    for (const way of await waysTo(each.path)) {
      const above = parentsOf(way).find((parent) => around.has(parent));
      const found = above === undefined ? undefined : around.get(above);
      if (found !== undefined) return { inner: each, outer: found };
    }
  }
  return undefined;
}
