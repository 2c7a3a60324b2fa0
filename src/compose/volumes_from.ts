import type { ComposeModel } from "../model/mod.ts";
import { servicesOf, textsOf } from "./model.ts";

/** Other services and containers whose volumes a service mounts. */
interface VolumesFrom {
  /** Services of the project, including those reached through another service. */
  readonly services: readonly string[];
  /** Containers that the service itself names. */
  readonly containers: ReadonlySet<string>;
}

/** The other services and containers of each service, by its name. */
export function volumesFrom(model: ComposeModel): ReadonlyMap<string, VolumesFrom> {
  const services = servicesOf(model);
  const names = Object.keys(services);
  const positions = new Map(names.map((name, at) => [name, at]));
  const containers = names.map(() => new Set<string>());
  // Bytes by position, since each of hundreds of services may name all others.
  const reached = names.map((name, at) => {
    const row = new Uint8Array(names.length);
    for (const written of textsOf(services[name]?.["volumes_from"])) {
      const [first = "", second = ""] = written.split(":", 2);
      if (first === "container") containers[at]?.add(second);
      else row[positions.get(first) ?? names.length] = 1;
    }
    return row;
  });
  for (const [by, row] of reached.entries()) {
    for (const other of reached) if (other[by] === 1) include(other, row);
  }
  return new Map(names.map((name, at) => {
    const others = names.filter((_, other) => other !== at && reached[at]?.[other] === 1);
    return [name, { services: others, containers: containers[at] ?? new Set() }];
  }));
}

/** A plain loop, since it runs hundreds of thousands of times. */
function include(into: Uint8Array, row: Uint8Array): void {
  for (let at = 0; at < row.length; at++) if (row[at] === 1) into[at] = 1;
}
