import { compareVersions } from "../../docker/api_version.ts";
import type { EndpointBody } from "../../docker/create_bodies.ts";
import { type ComposeModel, filled } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  servicesOf,
  textAt,
} from "../../compose/model.ts";
import type { ContainerParts } from "./container_parts.ts";
import { numberOf } from "./units.ts";

/** Parts of a container's endpoints in its networks. */
export type EndpointParts = Pick<ContainerParts, "model" | "service" | "number" | "api">;

/**
 * A container's places by the name of the network, the first one first: the one whose gateway and
 * published ports it uses. None where it has the network of something else.
 */
export function endpointsOf(parts: EndpointParts): Record<string, EndpointBody> {
  const service = servicesOf(parts.model)[parts.service] ?? {};
  if (textAt(service, "network_mode") !== "") return {};
  const address = textAt(service, "mac_address");
  return Object.fromEntries(
    networksByPriority(service).map((key, index) => [
      networkName(parts.model, key),
      endpoint(service, key, { ...parts, address: index === 0 ? address : "" }),
    ]),
  );
}

/** The networks of a service as compose orders them: by priority, then by key. */
export function networksByPriority(service: JsonObject): string[] {
  const networks = objectAt(service, "networks");
  const priority = (key: string) => numberOf(objectAt(networks, key)["priority"]) ?? 0;
  return Object.keys(networks).sort((a, b) => priority(b) - priority(a) || (a < b ? -1 : 1));
}

/** The name under which the engine knows a network of the model. */
export function networkName(model: ComposeModel, key: string): string {
  return textAt(objectAt(objectAt(model, "networks"), key), "name") || key;
}

function endpoint(
  service: JsonObject,
  key: string,
  parts: EndpointParts & { readonly address: string },
): EndpointBody {
  const { model, number, api } = parts;
  const own = objectAt(service, "networks")[key];
  const wanted = isObject(own) ? own : {};
  const list = (name: string) =>
    Array.isArray(wanted[name]) ? (wanted[name] as unknown[]).map(String) : [];
  const priority = numberOf(wanted["gw_priority"]) ?? 0;
  const mac = textAt(wanted, "mac_address") || parts.address;
  const container = textAt(service, "container_name") ||
    `${textAt(model, "name")}-${parts.service}-${number}`;
  const since = (version: string) => compareVersions(api, version) >= 0;
  return {
    Aliases: [container, parts.service, ...list("aliases")],
    IPAMConfig: filled({
      IPv4Address: textAt(wanted, "ipv4_address"),
      IPv6Address: textAt(wanted, "ipv6_address"),
      LinkLocalIPs: list("link_local_ips"),
    }),
    ...(mac !== "" && since("1.44") ? { MacAddress: mac } : {}),
    ...filled({ DriverOpts: labelsOf({ labels: objectAt(wanted, "driver_opts") }) }),
    ...(priority !== 0 && since("1.48") ? { GwPriority: priority } : {}),
  };
}
