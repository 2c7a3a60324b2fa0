import {
  type ContainerDetails,
  type Engine,
  groupContainerId,
  hasOurRoot,
  oursAmong,
  ownContainerId,
  type OwnTraces,
} from "../docker/mod.ts";
import { errors } from "../model/mod.ts";
import { type Files, procText } from "../system/mod.ts";

/** Ports for finding the container that this process runs in. */
export interface OwnParts {
  readonly files: Pick<Files, "readIfExists">;
  readonly engine: Pick<Engine, "inspectContainer" | "listContainers">;
}

/**
 * The container of this process; `undefined` on a host, or if the engine does not have it.
 *
 * A container that joins the network of another one (`network_mode: service:vpn`) has that one's files
 * in `/etc`, which usually tell. Throws `settings_invalid` where nothing tells it from those that share
 * that network: it could not be kept from stacks.
 */
export async function findOwnContainer(
  { files, engine }: OwnParts,
  signal: AbortSignal,
): Promise<ContainerDetails | undefined> {
  const traces = {
    mounts: await procText(files, "/proc/self/mountinfo"),
    groups: await procText(files, "/proc/self/cgroup"),
  };
  const [group, named] = [groupContainerId(traces), ownContainerId(traces.mounts)];
  for (const id of new Set([group, named])) {
    const found = id === undefined ? undefined : await engine.inspectContainer(id, signal);
    // Engines find containers by name, too: on another engine one may be named like this id.
    if (found === undefined || found.container.id !== id) continue;
    if (id === group || hasOurRoot(found, traces) === true) return found;
    return await amongSharers(engine, found, traces, signal);
  }
  return undefined;
}

/** Containers in one network that are looked at to find ours. */
const MOST_SHARERS = 200;

/** This process's container among the owner of a network and those that joined it. */
async function amongSharers(
  engine: OwnParts["engine"],
  owner: ContainerDetails,
  traces: OwnTraces,
  signal: AbortSignal,
): Promise<ContainerDetails> {
  const listed = await engine.listContainers({}, signal);
  const sharers = new Set([owner.container.id]);
  for (const id of sharers) {
    for (const each of listed) if (each.joins === id) sharers.add(each.id);
  }
  const candidates = [owner];
  for (const id of [...sharers].slice(1, MOST_SHARERS)) {
    const found = await engine.inspectContainer(id, signal);
    if (found !== undefined) candidates.push(found);
  }
  const ours = candidates.length === 1 ? owner : oursAmong(candidates, traces);
  if (ours !== undefined) return ours;
  const names = candidates.map(({ container }) => container.name).slice(0, 5).join(", ");
  throw errors.settings_invalid(
    `which container Stackwright runs in cannot be told: ${names} share a network and have the same ` +
      "mounts; give Stackwright a network of its own, or a mount that the others do not have",
  );
}
