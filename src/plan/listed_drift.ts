import {
  type Drift,
  isOurs,
  missingNetworks,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type ReleaseService,
  wantedName,
} from "../model/mod.ts";
import { shouldRun } from "./should_run.ts";

/**
 * Differences of a stack from its release that a list of its containers shows: number, names,
 * networks and states. Unmanaged containers of services that the release does not have count, too,
 * but those whose profile is not active.
 */
export function listedDrift(
  { services, inactive = [] }: Pick<Release, "services" | "inactive">,
  { containers }: ObservedStack,
): Drift[] {
  const known = new Set([...services.map((each) => each.name), ...inactive]);
  const strange = containers.filter((each) => !known.has(each.service) && !isOurs(each));
  return [
    ...services.flatMap((service) =>
      serviceDrift(service, containers.filter((each) => each.service === service.name))
    ),
    ...strange.map((each): Drift => ({
      ...about(each),
      field: "service",
      wanted: "a service of its release",
      found: each.service === "" ? "none" : each.service,
    })),
  ].sort((a, b) => sortKey(a) < sortKey(b) ? -1 : 1);
}

function serviceDrift(service: ReleaseService, containers: readonly ObservedContainer[]): Drift[] {
  const { name, expectation: { replicas } } = service;
  const count = containers.length === replicas ? [] : [{
    service: name,
    field: "containers",
    wanted: String(replicas),
    found: String(containers.length),
  }];
  return [...count, ...containers.flatMap((each) => containerDrift(service, each))];
}

function containerDrift(service: ReleaseService, container: ObservedContainer): Drift[] {
  const drift = (field: string, wanted: string, found: string): Drift => ({
    ...about(container),
    field,
    wanted,
    found,
  });
  const { name, state } = container;
  const wanted = wantedName(service, container) ?? name;
  return [
    ...(shouldRun(service, container) ? [drift("state", "running", state)] : []),
    ...(wanted === name ? [] : [drift("name", wanted, name)]),
    ...missingNetworks(service, container).map((each) =>
      drift(`network ${each}`, "connected", "none")
    ),
  ];
}

function about({ id, name, service }: ObservedContainer): Pick<Drift, "service" | "container"> {
  return { service, container: { id, name } };
}

function sortKey({ service, container, field }: Drift): string {
  return [service, container?.name ?? "", field].join("\n");
}
