import type {
  DeclaredDeployment,
  Deployment,
  DiscoveredStack,
  Origin,
  Progress,
  Revision,
  StackKey,
  SwarmRelease,
  Trigger,
} from "../model/mod.ts";
import type { Glance } from "../deploy/mod.ts";
import type { SecretSession } from "../secrets/mod.ts";

/** One deployment of one run: what the steps of the pipeline hand on. */
export interface Target {
  readonly key: StackKey;
  readonly declared: DeclaredDeployment;
  readonly deployment: Deployment;
  /** The revision it is deployed from. */
  readonly revision: Revision;
  /** The revision its configuration was read at; of another source with `repository_url`. */
  readonly configuration: Revision;
  /** How it was found, when auto-discovery did. */
  readonly discovered?: DiscoveredStack;
  /** What it is in a swarm; absent where it is made of containers, and until that is known. */
  readonly swarm?: SwarmRelease;
  /** Configuration target; empty for the default file. */
  readonly configTarget: string;
  readonly trigger: Trigger;
  readonly origin: Origin;
  readonly progress: Progress;
  /** What the stacks of one run are looked at with; by default each is looked at by itself. */
  readonly glance?: Glance;
  /** Whether a network or a volume that it lacks may come from another target: it is tried again then. */
  readonly mayLack?: boolean;
  /** What the targets of one run read their external secrets with; one of its own by default. */
  readonly secretSession?: SecretSession;
}
