import { type ComposeModel, errors, isFilled } from "../model/mod.ts";
import { isSince } from "./is_since.ts";
import { isObject, type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "./model.ts";

/** A key that engines support since some version, and that older ones silently ignore. */
interface YoungKey {
  /** Key for people, below a service or a network. */
  readonly key: string;
  /** The first engine with the key. */
  readonly engine: keyof typeof APIS;
  /** Whether ignoring the key would run something different. */
  readonly isNeeded?: true;
  /** Whether a service, or a network, uses the key. */
  isIn(part: JsonObject): boolean;
}

/** The API of each of these engines. */
const APIS = { "24.0": [1, 43], "25.0": [1, 44], "26.0": [1, 45], "28.0": [1, 48] } as const;

const mounts = (service: JsonObject) => objectsAt(service, "volumes");
const inNetworks = (service: JsonObject, has: (network: JsonObject) => boolean) =>
  Object.values(objectAt(service, "networks")).some((each) => isObject(each) && has(each));

const OF_SERVICES: readonly YoungKey[] = [
  {
    key: "volumes.volume.subpath",
    engine: "26.0",
    isNeeded: true,
    isIn: (service) =>
      mounts(service).some((each) => textAt(objectAt(each, "volume"), "subpath") !== ""),
  },
  {
    key: "volumes.type: image",
    engine: "28.0",
    isNeeded: true,
    isIn: (service) => mounts(service).some((each) => textAt(each, "type") === "image"),
  },
  {
    key: "healthcheck.start_interval",
    engine: "25.0",
    isIn: (service) => textAt(objectAt(service, "healthcheck"), "start_interval") !== "",
  },
  {
    key: "networks.mac_address",
    engine: "25.0",
    isIn: (service) => inNetworks(service, (each) => textAt(each, "mac_address") !== ""),
  },
  {
    key: "annotations",
    engine: "24.0",
    isIn: (service) => Object.keys(objectAt(service, "annotations")).length > 0,
  },
  {
    key: "networks.gw_priority",
    engine: "28.0",
    isIn: (service) => inNetworks(service, (each) => Number(each["gw_priority"] ?? 0) !== 0),
  },
];

const OF_NETWORKS: readonly YoungKey[] = [{
  key: "enable_ipv4",
  engine: "28.0",
  isIn: (network) => network["enable_ipv4"] === false,
}];

/**
 * Finds keys of a model that an engine with this API silently ignores. Throws `unsupported` for
 * keys whose loss would run something different; returns sentences about the others, for people.
 * Calls `api` only for such keys.
 */
export async function requireKnownToEngine(
  model: ComposeModel,
  name: string,
  api: () => Promise<string>,
): Promise<readonly string[]> {
  const used = [
    ...usesOf(servicesOf(model), "services", OF_SERVICES),
    ...usesOf(objectAt(model, "networks"), "networks", OF_NETWORKS),
  ];
  if (used.length === 0) return [];
  const spoken = await api();
  const unknown = used.filter(({ engine }) => !isSince(spoken, APIS[engine]));
  const needed = unknown.filter(({ isNeeded }) => isNeeded).map(({ text }) => text);
  if (needed.length > 0) {
    throw errors.unsupported(
      `deployment ${name}: ${needed.join(", ")}; this one speaks API ${spoken}. Update the ` +
        "engine, or take it out of the compose file. Nothing was changed",
    );
  }
  return unknown.map(({ text }) => `${text}: this one, with API ${spoken}, leaves it out`);
}

/** Sentences about keys of a model that compose, unlike a swarm, makes containers without. */
export function leftOutByCompose(model: ComposeModel): string[] {
  return Object.entries(servicesOf(model)).filter(([, { credential_spec }]) =>
    isFilled(credential_spec)
  )
    .map(([service]) =>
      `services.${service}.credential_spec: docker compose leaves it out, so the container is made without`
    );
}

function usesOf(parts: Readonly<Record<string, unknown>>, kind: string, keys: readonly YoungKey[]) {
  return Object.entries(parts).flatMap(([part, value]) =>
    keys.filter((each) => isObject(value) && each.isIn(value)).map((each) => {
      return { ...each, text: `${kind}.${part}.${each.key} needs Engine ${each.engine} or newer` };
    })
  );
}
