import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  type ContainerDetails,
  type EngineClient,
  groupContainerId,
  hasOurRoot,
  NAMESPACE_MODES,
  namespaceLenders,
  type OwnContainer,
  ownContainerId,
} from "../docker/mod.ts";
import { errors, fewOf, type ObservedContainer } from "../model/mod.ts";
import { type Files, procText, withTemporaryDirectory } from "../system/mod.ts";

/** Ports for finding the container that this process runs in. */
export interface OwnParts {
  readonly files: Pick<Files, "makeTemporaryDirectory" | "readIfExists" | "remove" | "write">;
  readonly engine: Pick<EngineClient, "fileHas" | "inspectContainer" | "listContainers">;
  /** Beginnings of directories that this process may make in places that differ between containers. */
  readonly places: readonly string[];
}

/**
 * The container of this process; `undefined` on a host, or if the engine does not have it.
 *
 * A container that joins the network of another one (`network_mode: service:vpn`) has that one's files
 * in `/etc`, which usually tell. Throws `settings_invalid` where nothing tells it from those that share
 * that network: it could not be kept from stacks.
 */
export async function findOwnContainer(
  parts: OwnParts,
  signal: AbortSignal,
): Promise<OwnContainer | undefined> {
  const found = await find(parts, signal);
  if (found === undefined) return undefined;
  const lent = NAMESPACE_MODES.map((mode) => namespaceLenders(parts.engine, found, mode, signal));
  const known = (await Promise.all(lent)).flat().flatMap(({ details }) => details ?? []);
  return {
    ...found,
    lenders: [...new Map(known.map((each) => [each.container.id, each])).values()],
  };
}

async function find(parts: OwnParts, signal: AbortSignal): Promise<ContainerDetails | undefined> {
  const { files, engine } = parts;
  const traces = {
    mounts: await procText(files, "/proc/self/mountinfo"),
    groups: await procText(files, "/proc/self/cgroup"),
  };
  const [group, named] = [groupContainerId(traces), ownContainerId(traces.mounts)];
  const isOurs = (each: ContainerDetails) => hasOurRoot(each, traces) === true;
  for (const id of new Set([group, named])) {
    if (id === undefined) continue;
    const found = await engine.inspectContainer(id, signal);
    if (found?.container.id === id && (id === group || isOurs(found))) return found;
  }
  if (named === undefined) return undefined;
  const { near, lost } = await sharers(engine, named, signal);
  if (near.length === 1) return near[0];
  // The engine may be another one, where nobody has our files.
  const asked = near.length > 0 ? near : lost;
  const ours = asked.find(isOurs) ?? await holderAmong(parts, asked, signal);
  if (ours !== undefined || near.length === 0) return ours;
  const names = fewOf(near.map(({ container }) => container.name), 5);
  throw errors.settings_invalid(
    `which container Stackwright runs in cannot be told: ${names} share a network, and the engine shows ` +
      "in none of them alone what Stackwright writes to its temporary or data directory; give " +
      "Stackwright a network of its own, or allow GET /containers/{id}/archive",
  );
}

/** Running containers that have one network: that of an owner, and of others that are gone. */
async function sharers(engine: OwnParts["engine"], owner: string, signal: AbortSignal) {
  const listed = await engine.listContainers({}, signal);
  const states = new Map(listed.map(({ id, state }) => [id, state]));
  const gone = listed.flatMap(({ joins = owner }) => states.has(joins) ? [] : [joins]);
  const inspected = async (owners: readonly string[]) => {
    const running = sharing(listed, owners)
      .filter((id) => (states.get(id) ?? "running") === "running");
    const found = running.map(async (id) => {
      const details = await engine.inspectContainer(id, signal);
      // Engines find containers by name, too: on another engine one may be named like this id.
      return details?.container.id === id ? [details] : [];
    });
    return (await Promise.all(found)).flat();
  };
  const near = await inspected([owner]);
  return { near, lost: near.length > 0 ? [] : await inspected(gone) };
}

/** Ids of the owners of networks, and of those that joined them, or one that did. */
function sharing(listed: readonly ObservedContainer[], owners: readonly string[]) {
  const found = new Set(owners);
  for (const id of found) {
    for (const each of listed) if (each.joins === id) found.add(each.id);
  }
  return [...found];
}

/**
 * The only one of several containers in which the engine finds what this process writes. What a file has
 * is proof: a volume's server can tell which ones are looked for, and answer that they exist.
 */
async function holderAmong(
  { files, engine, places }: OwnParts,
  candidates: readonly ContainerDetails[],
  signal: AbortSignal,
): Promise<ContainerDetails | undefined> {
  const failures: unknown[] = [];
  for (const place of candidates.length === 0 ? [] : places) {
    const asked = withTemporaryDirectory(files, place, async (directory) => {
      const file = { path: join(directory, "proof"), text: randomUUID() };
      await files.write(file.path, file.text, { mode: 0o600 });
      const has = candidates.map(({ container }) => engine.fileHas(container.id, file, signal));
      return await Promise.allSettled(has);
    });
    // It may not be allowed to write there.
    const answers = await asked.catch(() => []);
    signal.throwIfAborted();
    const holders = candidates.filter((_, at) => {
      const answer = answers[at];
      return answer?.status === "fulfilled" && answer.value;
    });
    if (holders.length === 1) return holders[0];
    failures.push(...answers.flatMap((each) => each.status === "rejected" ? [each.reason] : []));
  }
  if (failures.length > 0) throw failures[0];
  return undefined;
}
