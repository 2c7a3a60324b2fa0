import { compareVersions } from "../../docker/api_version.ts";
import type { NetworkBody, VolumeBody } from "../../docker/create_bodies.ts";
import { COMPOSE_LABELS, type ComposeModel, filled } from "../../model/mod.ts";
import {
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
} from "../../compose/model.ts";
import { type Resource, resourcesOf } from "../../compose/resources.ts";

/** A network or volume of a rendered model, with the request to make it. */
export interface WantedResource<Body> extends Omit<Resource, "definition"> {
  readonly body: Body;
}

/** The networks of a model with plain dollars. */
export function wantedNetworks(model: ComposeModel, api: string): WantedResource<NetworkBody>[] {
  return resourcesOf(model, "networks").map(({ key, name, external, definition }) => ({
    key,
    name,
    external,
    body: networkBody(definition, {
      api,
      name,
      labels: { ...labelsOf(definition), ...ownLabels(model, COMPOSE_LABELS.network, key) },
    }),
  }));
}

/** The volumes of a model with plain dollars. */
export function wantedVolumes(model: ComposeModel): WantedResource<VolumeBody>[] {
  return resourcesOf(model, "volumes").map(({ key, name, external, definition }) => {
    return {
      key,
      name,
      external,
      body: {
        Name: name,
        ...filled({
          Driver: textAt(definition, "driver"),
          DriverOpts: textMapAt(definition, "driver_opts"),
        }),
        Labels: { ...labelsOf(definition), ...ownLabels(model, COMPOSE_LABELS.volume, key) },
      },
    };
  });
}

function ownLabels(model: ComposeModel, label: string, key: string) {
  return { [COMPOSE_LABELS.project]: textAt(model, "name"), [label]: key };
}

function networkBody(
  definition: JsonObject,
  { api, name, labels }: {
    readonly api: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  },
): NetworkBody {
  const since = (version: string) => compareVersions(api, version) >= 0;
  const ipv4 = definition["enable_ipv4"];
  const ipv6 = definition["enable_ipv6"];
  return {
    Name: name,
    // Without it, old engines give two concurrent callers two networks with the same name.
    ...(since("1.44") ? {} : { CheckDuplicate: true }),
    ...filled({
      Driver: textAt(definition, "driver"),
      Options: textMapAt(definition, "driver_opts"),
    }),
    Internal: definition["internal"] === true,
    Attachable: definition["attachable"] === true,
    ...(typeof ipv4 === "boolean" && since("1.48") ? { EnableIPv4: ipv4 } : {}),
    ...(typeof ipv6 === "boolean" ? { EnableIPv6: ipv6 } : {}),
    Labels: labels,
    ...addresses(objectAt(definition, "ipam")),
  };
}

function addresses(ipam: JsonObject): Pick<NetworkBody, "IPAM"> {
  const pools = objectsAt(ipam, "config");
  const driver = textAt(ipam, "driver");
  if (pools.length === 0 && driver === "") return {};
  return {
    IPAM: {
      ...filled({ Driver: driver }),
      Config: pools.map((pool) =>
        filled({
          Subnet: textAt(pool, "subnet"),
          IPRange: textAt(pool, "ip_range"),
          Gateway: textAt(pool, "gateway"),
          AuxiliaryAddresses: textMapAt(pool, "aux_addresses"),
        })
      ),
    },
  };
}
