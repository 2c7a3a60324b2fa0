import type { ContainerMount } from "../../docker/engine.ts";
import type { ComposeModel } from "../../model/mod.ts";

/** Parts that a container is made from, besides the definition of its service. */
export interface ContainerParts {
  /** Rendered, with plain dollars. */
  readonly model: ComposeModel;
  readonly service: string;
  /** Number of the container within its service, from 1. */
  readonly number: number;
  /** Negotiated API version of the engine. */
  readonly api: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Further variables, as for proxies; those of the service win. */
  readonly variables: Readonly<Record<string, string>>;
  /** Id of the first container of another service, for sharing its namespaces or volumes. */
  readonly idOf: (service: string) => string;
  /** Mounts of the container that it replaces; none for a new one. */
  readonly inherited: readonly ContainerMount[];
  /** Paths at which the image declares volumes. */
  readonly imageVolumes: ReadonlySet<string>;
}
