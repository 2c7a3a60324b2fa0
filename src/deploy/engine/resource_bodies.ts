import { compareVersions } from "../../docker/api_version.ts";
import type { NetworkBody, VolumeBody } from "../../docker/create_bodies.ts";
import { COMPOSE_LABELS, type ComposeModel, filled } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  textAt,
} from "../../compose/model.ts";

/** A network or volume of a rendered model. */
export interface WantedResource<Body> {
  /** Its key in the model. */
  readonly key: string;
  /** Its name on the engine. */
  readonly name: string;
  /** Whether it has to be there already, whoever made it. */
  readonly external: boolean;
  readonly body: Body;
}

/** The networks of a model, with plain dollars, as the engine is asked for them. */
export function wantedNetworks(
  model: ComposeModel,
  api: string,
): WantedResource<NetworkBody>[] {
  return entries(model, "networks").map(({ key, name, definition }) => ({
    key,
    name,
    external: definition["external"] === true,
    body: networkBody(definition, {
      api,
      name,
      labels: { ...labelsOf(definition), ...ownLabels(model, COMPOSE_LABELS.network, key) },
    }),
  }));
}

/** The volumes of a model, likewise. */
export function wantedVolumes(model: ComposeModel): WantedResource<VolumeBody>[] {
  return entries(model, "volumes").map(({ key, name, definition }) => {
    return {
      key,
      name,
      external: definition["external"] === true,
      body: {
        Name: name,
        ...filled({
          Driver: textAt(definition, "driver"),
          DriverOpts: textsOf(objectAt(definition, "driver_opts")),
        }),
        Labels: { ...labelsOf(definition), ...ownLabels(model, COMPOSE_LABELS.volume, key) },
      },
    };
  });
}

function entries(model: ComposeModel, kind: "networks" | "volumes") {
  return Object.entries(objectAt(model, kind)).map(([key, value]) => {
    const definition = isObject(value) ? value : {};
    return { key, name: textAt(definition, "name") || key, definition };
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
    // Without it two callers at once get two networks of one name from an old engine.
    ...(since("1.44") ? {} : { CheckDuplicate: true }),
    ...filled({
      Driver: textAt(definition, "driver"),
      Options: textsOf(objectAt(definition, "driver_opts")),
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
          AuxiliaryAddresses: textsOf(objectAt(pool, "aux_addresses")),
        })
      ),
    },
  };
}

function textsOf(object: JsonObject): Record<string, string> {
  return labelsOf({ labels: object });
}
