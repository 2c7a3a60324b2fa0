import {
  COMPOSE_LABELS,
  type ComposeModel,
  type HostPort,
  type ObservedContainer,
} from "../model/mod.ts";
import { type JsonObject, objectsAt, servicesOf, textAt } from "./compose_model.ts";

/** What only one container of a host can have, as a service asks for it. */
export interface Claims {
  readonly ports: readonly HostPort[];
  /** Names of containers that their author chose. */
  readonly names: readonly string[];
}

const EVERYWHERE = ["", "0.0.0.0", "::", "*"];

/** What a service of a rendered model claims. A range of ports is left to the engine. */
export function claimsOf(model: ComposeModel, name: string): Claims {
  const service: JsonObject = servicesOf(model)[name] ?? {};
  const container = textAt(service, "container_name");
  const ports = objectsAt(service, "ports").flatMap((port) => {
    const published = Number(port["published"]);
    if (!Number.isInteger(published) || published === 0) return [];
    const protocol = textAt(port, "protocol") || "tcp";
    return [{ address: textAt(port, "host_ip"), port: published, protocol }];
  });
  return { ports, names: container === "" ? [] : [container] };
}

/** Whether two ports cannot be held by two containers at once. */
export function portsClash(a: HostPort, b: HostPort): boolean {
  const sameAddress = a.address === b.address || EVERYWHERE.includes(a.address) ||
    EVERYWHERE.includes(b.address);
  return sameAddress && a.port === b.port && a.protocol === b.protocol;
}

/**
 * What keeps services from starting: containers of other projects that hold a port or a name they
 * need. One sentence each.
 */
export function clashes(
  model: ComposeModel,
  services: readonly string[],
  others: readonly ObservedContainer[],
): string[] {
  return services.flatMap((name) => {
    const { ports, names } = claimsOf(model, name);
    return others.flatMap((other) => {
      const held = (other.hostPorts ?? []).find((port) =>
        ports.some((each) => portsClash(each, port))
      );
      const owner = `container ${other.name}${projectText(other)}`;
      const port = held &&
        `service ${name} needs port ${held.port}/${held.protocol}, which ${owner} holds`;
      const taken = names.includes(other.name) &&
        `service ${name} needs the container name ${other.name}, which ${owner} has`;
      return [port, taken].filter((each): each is string => typeof each === "string");
    });
  });
}

function projectText(container: ObservedContainer): string {
  const project = container.labels[COMPOSE_LABELS.project];
  return project === undefined ? "" : ` of project ${project}`;
}
