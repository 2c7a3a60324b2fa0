import type { NetworkBody } from "../docker/create_bodies.ts";
import type { Engine, ResourceSummary } from "../docker/engine.ts";
import { type ComposeModel, errors, isStackwrightError, messageOf } from "../model/mod.ts";
import { type Clock, firstInCommon } from "../system/mod.ts";
import type { ChangedNetwork } from "./changed_networks.ts";
import { nameAside } from "./compose/act_on_services.ts";
import { withPlainDollars } from "./engine/plain_dollars.ts";
import { wantedNetworks } from "./engine/resource_bodies.ts";
import { withoutNetworks } from "./engine/without_networks.ts";

/** Messages of engines about addresses that another network has: they may be those of the one that goes. */
const TAKEN = /overlap|already (?:used|in use)/i;
/** The option that names the interface of the host, which only one network can have. */
const BRIDGE_NAME = "com.docker.network.bridge.name";

/**
 * Makes each network that is to be made anew once beside the one that it replaces, under a name of its own,
 * and removes it: what the engine refuses is known while everything still runs. Addresses that another one
 * has which stays are refused, those that the old one has are left out, and where the engine has none to
 * spare, nothing is said. Only bridges: the drivers of other networks may act on more than this engine.
 *
 * Throws `deploy_failed` with the engine's words, and what the engine throws when it cannot be asked.
 */
export async function tryNetworks(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  networks: readonly ChangedNetwork[],
  model: ComposeModel,
  signal: AbortSignal,
): Promise<void> {
  if (networks.length === 0) return;
  const wanted = wantedNetworks(withPlainDollars(model), await engine.apiVersion(signal));
  const there = await engine.findNetworks(networks.map(({ id }) => id), signal);
  const bodies = new Map(wanted.map(({ key, body }) => [key, body]));
  const options = new Map(there.map((each) => [each.id, each.options]));
  for (const { key, id, name } of networks) {
    const body = bodies.get(key);
    if (body === undefined || !["bridge", "default"].includes(body.Driver ?? "bridge")) continue;
    const old = options.get(id) ?? {};
    const Options = Object.fromEntries(
      Object.entries(body.Options ?? {}).filter(([option, value]) =>
        option !== BRIDGE_NAME || old[option] !== value
      ),
    );
    const whole = { ...body, Name: nameAside(id, name), Options };
    const { IPAM: _addresses, EnableIPv4: _4, EnableIPv6: _6, ...bare } = whole;
    const attempt = (trial: NetworkBody) => refusalOf({ engine, clock }, trial, signal);
    let refusal = await attempt(whole);
    if (TAKEN.test(refusal ?? "")) {
      refusal = takenBy(body, networks, await engine.listNetworks({}, signal)) ??
        await attempt(bare);
    }
    if (refusal === undefined) continue;
    throw errors.deploy_failed(
      `networks.${key}: network ${name} cannot be made anew as it is defined now, so it was left as it ` +
        `is, with all who use it: ${refusal}`,
    );
  }
}

/** Which of `all` networks has addresses that a network asks for, but for those that are made anew. */
function takenBy(
  { IPAM }: NetworkBody,
  anew: readonly ChangedNetwork[],
  all: readonly ResourceSummary[],
): string | undefined {
  const ids = new Set(anew.map(({ id }) => id));
  // The addresses of a swarm's networks are a space of their own.
  const others = all.filter(({ id, driver }) => !ids.has(id) && driver !== "overlay")
    .flatMap(({ name, network }) => (network?.pools ?? []).map(({ subnet }) => ({ name, subnet })));
  const wanted = (IPAM?.Config ?? []).map(({ Subnet = "" }) => Subnet);
  const { one, other } = firstInCommon(wanted, others.map(({ subnet }) => subnet)) ?? {};
  const holder = others.find(({ subnet }) => subnet === other)?.name;
  return one && `${one} overlaps with ${other} of network ${holder}`;
}

/** What the engine says against a network, which is gone afterwards in any case. */
async function refusalOf(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  trial: NetworkBody,
  signal: AbortSignal,
): Promise<string | undefined> {
  const refused = await engine.makeNetwork(trial, signal).catch((error: unknown) => error);
  const error = await withoutNetworks(engine, [trial.Name], refused, { clock, signal });
  if (error === undefined) return undefined;
  if (!isStackwrightError(refused, "engine_refused")) throw error;
  // It has no addresses to spare, and may have those of the network that goes.
  return error === refused ? messageOf(refused) : undefined;
}
