import type { ContainerMount } from "../../docker/engine.ts";
import type { ComposeModel } from "../../model/mod.ts";

/** Parts that a container is made from, besides the definition of its service. */
export interface ContainerParts {
  /** Rendered, with plain dollars. */
  readonly model: ComposeModel;
  readonly service: string;
  /** Which of the service's containers it is, from 1. */
  readonly number: number;
  /** API version that the engine is spoken to with. */
  readonly api: string;
  /** All labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** Variables under those of the service, as for proxies. */
  readonly variables: Readonly<Record<string, string>>;
  /** Id of the first container of a service that this one shares something with. */
  readonly idOf: (service: string) => string;
  /** Mounts of the container whose place it takes; none for a new one. */
  readonly inherited: readonly ContainerMount[];
  /** Paths at which its image declares volumes. */
  readonly imageVolumes: ReadonlySet<string>;
}
