import type { Engine } from "../docker/engine.ts";
import type {
  LiveManifest,
  ObservedStack,
  Progress,
  Release,
  ServicePlan,
  StackwrightError,
} from "../model/mod.ts";
import type { Clock, Log, Slot } from "../system/mod.ts";
import type { Backend } from "./backend.ts";
import type { ComposeCall } from "./compose/compose_parts.ts";
import type { Way } from "./update/update_config.ts";
import type { StackFiles } from "./stack_files.ts";

/** A release with the directory of its tree. */
export interface ReleaseOnDisk {
  readonly release: Release;
  readonly tree: string;
  /** That of its configuration, where something is read from another source. */
  readonly configurationTree?: string;
}

/** A plan that is carried out: from one release to the next, or back. */
export interface Rollout {
  readonly next: ReleaseOnDisk;
  readonly services: readonly ServicePlan[];
  /** Services that must be healthy although nothing is done to them now. */
  readonly verify?: readonly string[] | undefined;
  /** What runs now, as far as it is known; absent on a first deployment. */
  readonly previous: ReleaseOnDisk | undefined;
  /** Services that ran when the plan was made: they run again, also after a rollback. */
  readonly ranBefore: readonly string[];
  /** What lies under `live/` now. */
  readonly liveNow: LiveManifest;
  /** Images that services of `next` which are built are made of, as far as they are known. */
  readonly images?: Readonly<Record<string, string>>;
  /** Images the previous release ran, by service, to point its tags at again. */
  readonly previousImages: Readonly<Record<string, string>>;
  /** Seconds until `next` must be healthy. */
  readonly timeoutSeconds: number;
  /** Whether it takes a release back that failed; forward without it. */
  readonly way?: Way;
  /** Whether to put the previous release back after a failure. */
  readonly rollback: boolean;
}

/** Parts that a rollout works with. */
export interface RolloutParts {
  readonly engine: Engine;
  /** Who makes and starts containers. */
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: StackFiles;
  /** The slot among those that change containers, which is lent while containers are only watched. */
  readonly slot: Slot;
  /** Milliseconds of watching where a service does not say (`DEPLOY_WATCH`). */
  readonly watchMs: number;
  readonly progress: Progress;
  /** Words for compose about a release: project, variables, model. */
  call(onDisk: ReleaseOnDisk): ComposeCall;
  /** Whether a stack of the same engine is of the owner of the one that is deployed, by the ledger. */
  isOwners(stack: string): boolean;
  /** Decides again, from what runs now, how to get from the release that failed to another. */
  replan(release: Release, observed: ObservedStack, failed: Release): readonly ServicePlan[];
  /** Fetches the images that a plan for a release which ran before needs and that are gone. */
  fetchImages(
    onDisk: ReleaseOnDisk,
    services: readonly ServicePlan[],
    signal: AbortSignal,
  ): Promise<void>;
}

/** The end of a rollout. */
export type RolloutResult =
  | { readonly kind: "deployed"; readonly images: Readonly<Record<string, string>> }
  | { readonly kind: "failed"; readonly error: StackwrightError; readonly text: string }
  | { readonly kind: "rolled_back"; readonly error: StackwrightError; readonly text: string };
