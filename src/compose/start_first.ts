import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  errors,
  listOf,
} from "../model/mod.ts";
import { expectationOf, replicasOf } from "./expectation.ts";
import { sharesOf } from "./follows.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  serviceOf,
  servicesOf,
  textAt,
} from "./model.ts";

/** The order in which the containers of a service are replaced. */
export type UpdateOrder = "start-first" | "stop-first";

/** The wanted update order, on the way `forward` to a release or `back` to the previous one. */
export function askedOrder(service: JsonObject, way: "forward" | "back" = "forward"): UpdateOrder {
  if (isRequired(service)) return "start-first";
  const deploy = objectAt(service, "deploy");
  const back = way === "back" ? textAt(objectAt(deploy, "rollback_config"), "order") : "";
  const order = back || textAt(objectAt(deploy, "update_config"), "order");
  return order === "start-first" ? "start-first" : "stop-first";
}

/** Whether a service permits no other update order than start-first. */
export function isRequired(service: JsonObject): boolean {
  return behaviourLabel(labelsOf(service), BEHAVIOUR_LABELS.updateRequire) === "start-first";
}

/**
 * Checks that services which require start-first can be replaced that way.
 *
 * Throws `config_invalid` with the obstacle for each one that cannot.
 */
export function requireStartFirst(model: ComposeModel): void {
  const obstacleOf = startFirstObstacles(model);
  const problems = Object.entries(servicesOf(model)).flatMap(([name, service]) => {
    const label = BEHAVIOUR_LABELS.updateRequire;
    const value = behaviourLabel(labelsOf(service), label);
    if (value === undefined) return [];
    if (value !== "start-first") {
      return [`service ${name}: the label ${label} may only be start-first`];
    }
    const obstacle = obstacleOf(name);
    return obstacle === undefined ? [] : [startFirstRefused(name, obstacle)];
  });
  if (problems.length > 0) throw errors.config_invalid(problems.join("; "));
}

/** The error text for a service that requires start-first in vain. */
export function startFirstRefused(name: string, obstacle: string): string {
  return `service ${name} has the label ${BEHAVIOUR_LABELS.updateRequire}=start-first, which is ` +
    `impossible: ${obstacle}; change that, or take the label away`;
}

/** A function that says why a second container of a service cannot run beside the first, by the model. */
export function startFirstObstacles(model: ComposeModel): (name: string) => string | undefined {
  const sharedBy = sharers(model);
  return (name) => {
    const service = serviceOf(model, name);
    return ends(model, name) ?? fixedPort(service) ?? fixedAddress(service) ?? sharing(service) ??
      sharedBy.get(name) ?? writing(service);
  };
}

/** Obstacle: a service that ends by itself, or is not started by deployments, serves nothing. */
function ends(model: ComposeModel, name: string): string | undefined {
  const { oneShot, autostart } = expectationOf(name, model);
  if (oneShot) return "it runs once and ends";
  return autostart ? undefined : "deployments do not start it";
}

function fixedPort(service: JsonObject): string | undefined {
  // Each further container takes another port of the range.
  const needed = replicasOf(service) + 1;
  for (const [index, port] of objectsAt(service, "ports").entries()) {
    const published = String(port["published"] ?? "");
    if (published === "" || published === "0") continue;
    const [first = 0, last = first] = published.split("-").map(Number);
    if (last - first + 1 >= needed) continue;
    return first === last
      ? `ports.${index} publishes port ${published} of the host, which only one container can have`
      : `ports.${index} publishes ${published}, too few ports for ${needed} containers at once`;
  }
  return undefined;
}

function fixedAddress(service: JsonObject): string | undefined {
  if (textAt(service, "mac_address") !== "") {
    return "mac_address can only be given to one container";
  }
  for (const [key, endpoint] of Object.entries(objectAt(service, "networks"))) {
    if (!isObject(endpoint)) continue;
    for (const name of ["ipv4_address", "ipv6_address", "mac_address", "link_local_ips"]) {
      const value = endpoint[name];
      if (value === undefined || value === null || String(value) === "") continue;
      return `networks.${key}.${name} can only be given to one container`;
    }
  }
  return undefined;
}

/** Obstacle: a namespace that cannot be duplicated. */
function sharing(service: JsonObject): string | undefined {
  const key = ["network_mode", "ipc", "pid"].find((each) =>
    /^(?:host$|service:|container:)/.test(textAt(service, each))
  );
  return key === undefined ? undefined : `${key} is ${textAt(service, key)}`;
}

/** Obstacles by service: the first other one that shares a namespace or the volumes of it. */
function sharers(model: ComposeModel): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [other, definition] of Object.entries(servicesOf(model))) {
    // Services with a mere `restart: true` are no obstacle: they are replaced in any case.
    for (const [name, how] of Object.entries(sharesOf(definition))) {
      if (name !== other && !found.has(name)) found.set(name, `${other} ${how}`);
    }
  }
  return found;
}

/** Obstacle: two processes that write to the same data can destroy it; irrelevant with replicas. */
function writing(service: JsonObject): string | undefined {
  if (sharesWrites(service)) return undefined;
  const index = objectsAt(service, "volumes").findIndex((each) =>
    ["bind", "volume"].includes(textAt(each, "type")) && each["read_only"] !== true
  );
  if (index >= 0) {
    const target = textAt(objectsAt(service, "volumes")[index] ?? {}, "target");
    return `volumes.${index} (${target}) may be written to`;
  }
  const from = listOf(service["volumes_from"]).map(String);
  const written = from.find((each) => !each.endsWith(":ro"));
  return written === undefined ? undefined : `volumes_from ${written} may be written to`;
}

/** Whether several containers of a service may write to its volumes at once. */
export function sharesWrites(service: JsonObject): boolean {
  return replicasOf(service) > 1 ||
    behaviourLabel(labelsOf(service), BEHAVIOUR_LABELS.updateSharesWrites) === "true";
}
