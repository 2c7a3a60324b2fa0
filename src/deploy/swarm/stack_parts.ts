import type { ComposeModel } from "../../model/mod.ts";

/** Everything that the services of a stack are made from. Values only. */
export interface StackParts {
  /** Name of the stack. */
  readonly stack: string;
  /** Rendered, with stable paths, our labels and plain dollars. */
  readonly model: ComposeModel;
  /** API version that the engine is spoken to with. */
  readonly api: string;
  /** Number of tasks that each service wants; one by default. */
  readonly replicas: Readonly<Record<string, number>>;
  /** Image of each service with its digest, where it is known. */
  readonly images: Readonly<Record<string, string>>;
  /** Identity of the files that a service sees through mounts; absent where it sees none. */
  readonly content: Readonly<Record<string, string>>;
  /** Name on the engine and id of a config or secret by its key in the model. */
  readonly object: (
    kind: "configs" | "secrets",
    key: string,
  ) => { readonly id: string; readonly name: string };
}

/** Labels by which the tools of a swarm know what belongs to a stack. */
export const STACK_LABELS = {
  namespace: "com.docker.stack.namespace",
  /** The image as its author named it. */
  image: "com.docker.stack.image",
} as const;

/** Label of a job's service with the time of its last run: a swarm runs what changed. */
export const LAST_RUN = "stackwright.job.last_run";

/** Value of the label with the number of tasks for a job that runs on every node. */
export const EVERY_NODE = "global";
