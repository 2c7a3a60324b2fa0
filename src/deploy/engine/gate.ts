import { compareVersions } from "../../docker/api_version.ts";
import type { ContainerWish, EndpointBody } from "../../docker/create_bodies.ts";
import type { ContainerEndpoint, Engine, ResourceSummary } from "../../docker/engine.ts";
import { type ComposeModel, isStackwrightError, LABELS } from "../../model/mod.ts";
import { objectAt, objectsAt, textAt } from "../../compose/mod.ts";
import { resourcesOf } from "../../compose/resources.ts";

/**
 * API version since which an engine accepts any address for a container, whoever chose the
 * network's range. Some older engines do, too, but 29.0 (API 1.52) does not (moby 51569).
 */
const GIVES_ANY_ADDRESS = "1.53";

/**
 * Names of networks in which a container can reconnect with the same address, so that its
 * connections survive: bridges, on older engines only those whose range was requested.
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
    // For a range that the engine chose itself, it also reports a gateway.
    return chosen.has(name) || labels[LABELS.keepsAddresses] === "true" ||
      (pools.length > 0 && pools.every((each) => each.subnet !== "" && each.gateway === ""));
  };
  return new Set(networks.filter(keeps).map((each) => each.name));
}

/** The existing networks of a model, without listing all networks of the engine. */
export async function networksThere(
  engine: Pick<Engine, "findNetworks">,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<readonly ResourceSummary[]> {
  return await engine.findNetworks(resourcesOf(model, "networks").map(({ name }) => name), signal);
}

/** Names of the networks whose address range the model sets. */
function withChosenRanges(model: ComposeModel): string[] {
  return resourcesOf(model, "networks").filter(({ external, definition }) => {
    const pools = objectsAt(objectAt(definition, "ipam"), "config");
    return !external && pools.length > 0 && pools.every((each) => textAt(each, "subnet") !== "");
  }).map(({ name }) => name);
}

/** A container without aliases in these networks: its service's name does not lead to it. */
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

interface Rejoining {
  readonly network: string;
  readonly container: string;
  readonly now: ContainerEndpoint | undefined;
  readonly endpoint: EndpointBody;
}

/**
 * Reconnects a running container to a network with the same address and other aliases, since the engine
 * cannot change those of a connected one. TCP sends again what is lost: connections survive.
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
    // A new address is better than no connection to the network.
    if (!isStackwrightError(error, "engine_refused") || Object.keys(kept).length === 0) throw error;
    await engine.connectNetwork(network, { container, endpoint }, signal);
  }
}
