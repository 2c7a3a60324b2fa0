import { COMPOSE_LABELS } from "./labels.ts";
import type { ObservedContainer } from "./observed.ts";
import type { ReleaseService } from "./release.ts";

/** The name that a container of a service should have; `undefined` when unknown. */
export function wantedName(
  { name, place }: Pick<ReleaseService, "name" | "place">,
  { labels }: Pick<ObservedContainer, "labels">,
): string | undefined {
  if (place === undefined) return undefined;
  if (place.containerName !== "") return place.containerName;
  const { [COMPOSE_LABELS.project]: project, [COMPOSE_LABELS.number]: number } = labels;
  return project === undefined || number === undefined ? undefined : `${project}-${name}-${number}`;
}

/** Networks that a container lacks for its service; empty when they are unknown. */
export function missingNetworks(
  { place }: Pick<ReleaseService, "place">,
  { networkNames, networkIds = [] }: Pick<ObservedContainer, "networkNames" | "networkIds">,
): string[] {
  if (place === undefined || networkNames === undefined) return [];
  const names = new Set(networkNames);
  // An external network may be named by its id.
  const isIn = (network: string) =>
    names.has(network) || networkIds.some((id) => id.startsWith(network));
  return place.networks.filter((network) => !isIn(network));
}
