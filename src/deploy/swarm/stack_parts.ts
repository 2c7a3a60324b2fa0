import { type ComposeModel, STACK_NAMESPACE } from "../../model/mod.ts";

/** Everything that decides about the services of a stack; plain values. */
export interface StackParts {
  readonly stack: string;
  /** Rendered, with stable paths, our labels and plain dollars. */
  readonly model: ComposeModel;
  /** Negotiated API version of the engine. */
  readonly api: string;
  /** Number of tasks that each service wants; one by default. */
  readonly replicas: Readonly<Record<string, number>>;
  /** Image of each service with its digest, where it is known. */
  readonly images: Readonly<Record<string, string>>;
  /** Digest of the files that a service mounts; absent without any. */
  readonly content: Readonly<Record<string, string>>;
  /** The id and the engine's name of a config or secret, by its key in the model. */
  readonly object: (
    kind: "configs" | "secrets",
    key: string,
  ) => { readonly id: string; readonly name: string };
}

/** Labels by which the tools of a swarm recognize the parts of a stack. */
export const STACK_LABELS = {
  namespace: STACK_NAMESPACE,
  /** The image's reference as its author wrote it. */
  image: "com.docker.stack.image",
} as const;

/** Label of a job's service with the time of its last run: a swarm runs a job when it changes. */
export const LAST_RUN = "stackwright.job.last_run";

/** Value of the label for the number of tasks when a job runs on every node. */
export const EVERY_NODE = "global";
