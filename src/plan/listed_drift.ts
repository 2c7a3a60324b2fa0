import {
  type Drift,
  errors,
  isOrphan,
  isOurs,
  missingNetworks,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type ReleaseService,
  wantedName,
} from "../model/mod.ts";
import { toRemember } from "./judge_drift.ts";
import { shouldRun } from "./should_run.ts";

/** Most differences of the services of a release that are told; further ones follow once these are repaired. */
const MOST_DIFFERENCES = 1000;

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
  const byService = Map.groupBy(containers, ({ service }) => service);
  const differences: Drift[] = [];
  for (const service of services) {
    const left = MOST_DIFFERENCES - differences.length;
    if (left <= 0) break;
    differences.push(...serviceDrift(service, byService.get(service.name) ?? [], left));
  }
  return [
    ...differences,
    ...strange.map((each): Drift => ({
      ...about(each),
      field: "service",
      wanted: "a service of its release",
      found: each.service === "" ? "none" : each.service,
    })),
  ].sort((a, b) => sortKey(a) < sortKey(b) ? -1 : 1);
}

/** Characters of the orphans that an adoption leaves alone: the ledger has them as long as they are there. */
const MOST_LEFT = 128 * 1024;

/**
 * The orphans that an adoption leaves alone, to be remembered: what is not remembered is undone as drift.
 * Throws `conflict` where they are too many for that.
 */
export function leftByAdoption(
  release: Pick<Release, "key" | "services" | "inactive">,
  observed: ObservedStack,
): Drift[] {
  const left = toRemember(listedDrift(release, observed).filter(isOrphan));
  const length = JSON.stringify(left).length;
  if (length <= MOST_LEFT) return left;
  throw errors.conflict(
    `${release.key.name} has containers of ${left.length} services that are not in its compose files, and ` +
      `that Stackwright did not make; they would be left alone, but what is kept of them has ${length} ` +
      `characters, and the most is ${MOST_LEFT}. Nothing was changed; remove those that nobody needs`,
  );
}

function serviceDrift(
  service: ReleaseService,
  containers: readonly ObservedContainer[],
  most: number,
): Drift[] {
  const { name, expectation: { replicas } } = service;
  const found: Drift[] = containers.length === replicas ? [] : [{
    service: name,
    field: "containers",
    wanted: String(replicas),
    found: String(containers.length),
  }];
  for (const each of containers) {
    if (found.length >= most) break;
    found.push(...containerDrift(service, each));
  }
  return found.slice(0, most);
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
