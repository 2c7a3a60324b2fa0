import { compareVersions } from "../../docker/api_version.ts";
import type { ContainerWish, EndpointBody } from "../../docker/create_bodies.ts";
import type { ContainerEndpoint, Engine, ResourceSummary } from "../../docker/engine.ts";
import { type ComposeModel, isStackwrightError, LABELS } from "../../model/mod.ts";
import { objectAt, objectsAt, textAt } from "../../compose/mod.ts";
import { resourcesOf } from "../../compose/resources.ts";

/**
 * Engines that give a container any address of a network, whoever chose its range. Some before did,
 * too, but 29.0, which says 1.52, does not (moby 51569).
 */
const GIVES_ANY_ADDRESS = "1.53";

/**
 * Names of the networks in which a container may leave and come back with its address, so that its
 * connections go on: bridges whose range somebody chose, on engines that ask for that.
 */
export function addressKeepers(
  networks: readonly ResourceSummary[],
  model: ComposeModel,
  api: string,
): ReadonlySet<string> {
  const chosen = new Set(withChosenRanges(model));
  const keeps = ({ driver, name, labels, network }: ResourceSummary) => {
    if (driver !== "bridge") return false;
    if (compareVersions(api, GIVES_ANY_ADDRESS) >= 0) return true;
    const pools = network?.pools ?? [];
    // Of a range that it chose itself the engine tells the gateway, too.
    return chosen.has(name) || labels[LABELS.keepsAddresses] === "true" ||
      (pools.length > 0 && pools.every((each) => each.subnet !== "" && each.gateway === ""));
  };
  return new Set(networks.filter(keeps).map((each) => each.name));
}

/** The networks of a model that are there: nobody has to read a list of all that an engine has. */
export async function networksThere(
  engine: Pick<Engine, "findNetworks">,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<readonly ResourceSummary[]> {
  return await engine.findNetworks(resourcesOf(model, "networks").map(({ name }) => name), signal);
}

/** Names of the networks whose ranges a model chooses. */
function withChosenRanges(model: ComposeModel): string[] {
  return resourcesOf(model, "networks").filter(({ external, definition }) => {
    const pools = objectsAt(objectAt(definition, "ipam"), "config");
    return !external && pools.length > 0 && pools.every((each) => textAt(each, "subnet") !== "");
  }).map(({ name }) => name);
}

/** A container that nobody finds in those networks by a name of its service. */
export function withoutAliases(wish: ContainerWish, networks: ReadonlySet<string>): ContainerWish {
  const hidden = (endpoints: Readonly<Record<string, EndpointBody>>) =>
    Object.fromEntries(
      Object.entries(endpoints)
        .map(([name, each]) => [name, networks.has(name) ? { ...each, Aliases: [] } : each]),
    );
  const { body, connect } = wish;
  const at = body.NetworkingConfig?.EndpointsConfig;
  return {
    ...wish,
    body: at === undefined ? body : { ...body, NetworkingConfig: { EndpointsConfig: hidden(at) } },
    connect: hidden(connect),
  };
}

/** One reconnection. */
interface Rejoining {
  readonly network: string;
  readonly container: string;
  readonly now: ContainerEndpoint | undefined;
  readonly endpoint: EndpointBody;
}

/**
 * Takes a running container out of a network and puts it back with the address it had and other names:
 * what it sends meanwhile is sent again, so its connections outlive that. The engine cannot change the
 * names of one that is connected.
 */
export async function rejoin(
  engine: Pick<Engine, "connectNetwork" | "disconnectNetwork">,
  { network, container, now, endpoint }: Rejoining,
  signal: AbortSignal,
): Promise<void> {
  const kept = {
    ...(now?.ipv4 ? { IPv4Address: now.ipv4 } : {}),
    ...(now?.ipv6 ? { IPv6Address: now.ipv6 } : {}),
  };
  await engine.disconnectNetwork(network, container, signal);
  try {
    const place = { ...endpoint, IPAMConfig: { ...endpoint.IPAMConfig, ...kept } };
    await engine.connectNetwork(network, { container, endpoint: place }, signal);
  } catch (error) {
    // Being found under a new address is better than not being found.
    if (!isStackwrightError(error, "engine_refused") || Object.keys(kept).length === 0) throw error;
    await engine.connectNetwork(network, { container, endpoint }, signal);
  }
}
