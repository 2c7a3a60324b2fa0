import type { ComposeModel } from "../model/mod.ts";
import { replicasOf } from "./expectation.ts";
import { servicesOf } from "./model.ts";

/** Services of one project: what is done for each looks at all others. */
const MOST_SERVICES = 500;
/** Containers of one project; a bridge of the kernel has room for a few more. */
const MOST_CONTAINERS = 1000;

/**
 * Why a rendered model is more than one deployment may be, as a sentence without an end; `undefined` when
 * it is not. One line can ask for two billion containers.
 */
export function tooLargeProject(model: ComposeModel): string | undefined {
  const services = Object.entries(servicesOf(model));
  if (services.length > MOST_SERVICES) {
    return `it has ${services.length} services, the most is ${MOST_SERVICES}`;
  }
  let containers = 0;
  for (const [name, service] of services) {
    const replicas = replicasOf(service);
    if (!Number.isInteger(replicas) || replicas < 0) {
      return `service ${name}: the number of its containers is no whole number from 0`;
    }
    containers += replicas;
  }
  return containers > MOST_CONTAINERS
    ? `it asks for ${containers} containers, the most is ${MOST_CONTAINERS}`
    : undefined;
}
