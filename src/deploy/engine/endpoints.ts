import { compareVersions } from "../../docker/api_version.ts";
import type { EndpointBody } from "../../docker/create_bodies.ts";
import { filled, listOf } from "../../model/mod.ts";
import { type JsonObject, objectAt, serviceOf, textAt, textMapAt } from "../../compose/model.ts";
import { containerName } from "../../compose/built_names.ts";
import type { ContainerParts } from "./container_parts.ts";
import { numberOf } from "./units.ts";
import { resourceName } from "../../compose/resources.ts";

type EndpointParts = Pick<ContainerParts, "model" | "service" | "number" | "api">;

/** A container's endpoints by network, that of its gateway first. None with `network_mode`. */
export function endpointsOf(parts: EndpointParts): Record<string, EndpointBody> {
  const service = serviceOf(parts.model, parts.service);
  if (textAt(service, "network_mode") !== "") return {};
  const address = textAt(service, "mac_address");
  return Object.fromEntries(
    networksByPriority(service).map((key, index) => [
      resourceName(parts.model, "networks", key),
      endpoint(service, key, { ...parts, address: index === 0 ? address : "" }),
    ]),
  );
}

/** The networks of a service in compose's order: by priority, then by key. */
export function networksByPriority(service: JsonObject): string[] {
  const networks = objectAt(service, "networks");
  const priority = (key: string) => numberOf(objectAt(networks, key)["priority"]) ?? 0;
  return Object.keys(networks).sort((a, b) => priority(b) - priority(a) || (a < b ? -1 : 1));
}

function endpoint(
  service: JsonObject,
  key: string,
  parts: EndpointParts & { readonly address: string },
): EndpointBody {
  const { model, number, api } = parts;
  const wanted = objectAt(objectAt(service, "networks"), key);
  const list = (name: string) => listOf(wanted[name]).map(String);
  const priority = numberOf(wanted["gw_priority"]) ?? 0;
  const mac = textAt(wanted, "mac_address") || parts.address;
  const since = (version: string) => compareVersions(api, version) >= 0;
  return {
    Aliases: [containerName(model, parts.service, number), parts.service, ...list("aliases")],
    IPAMConfig: filled({
      IPv4Address: textAt(wanted, "ipv4_address"),
      IPv6Address: textAt(wanted, "ipv6_address"),
      LinkLocalIPs: list("link_local_ips"),
    }),
    ...(mac !== "" && since("1.44") ? { MacAddress: mac } : {}),
    ...filled({ DriverOpts: textMapAt(wanted, "driver_opts") }),
    ...(priority !== 0 && since("1.48") ? { GwPriority: priority } : {}),
  };
}
