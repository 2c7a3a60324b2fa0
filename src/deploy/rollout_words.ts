import type { Engine } from "../docker/engine.ts";
import {
  fewOf,
  type LiveManifest,
  type ObservedStack,
  type Progress,
  type Release,
  type ServicePlan,
  type StackwrightError,
} from "../model/mod.ts";
import type { Clock, Log, Slot } from "../system/mod.ts";
import { changedNames } from "./kept_services.ts";
import type { Backend, ComposeStarts } from "./backend.ts";
import type { ComposeCall } from "./compose/compose_parts.ts";
import type { Way } from "./update/update_config.ts";
import type { StackFiles } from "./stack_files.ts";

/** A release with the directory of its tree. */
export interface ReleaseOnDisk {
  readonly release: Release;
  readonly tree: string;
  /** Tree of its configuration, where some files come from another source. */
  readonly configurationTree?: string;
}

/** A plan to carry out: from one release to the next, or back. */
export interface Rollout {
  readonly next: ReleaseOnDisk;
  readonly services: readonly ServicePlan[];
  /** Services that must be healthy although the plan leaves them alone. */
  readonly verify?: readonly string[] | undefined;
  /** The release that runs now, as far as it is known; absent on a first deployment. */
  readonly previous: ReleaseOnDisk | undefined;
  /** Services that ran when the plan was made: they must run afterwards, also after a rollback. */
  readonly ranBefore: readonly string[];
  /** Whether a person had stopped the stack: what did not run before is not started by putting it back. */
  readonly wasStopped?: boolean;
  readonly liveNow: LiveManifest;
  /** Images of built services of `next`, by service, as far as they are known. */
  readonly images?: Readonly<Record<string, string>>;
  /** Images the previous release ran, by service, to point its tags at again. */
  readonly previousImages: Readonly<Record<string, string>>;
  /** Seconds until `next` must be healthy. */
  readonly timeoutSeconds: number;
  /** Whether the plan takes a failed release back; `forward` by default. */
  readonly way?: Way;
  /** Whether to put the previous release back after a failure. */
  readonly rollback: boolean;
}

/** Ports of a rollout. */
export interface RolloutParts {
  readonly engine: Engine;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: StackFiles;
  /** Deployment slot, given to others while containers are only watched. */
  readonly slot: Slot;
  /** Milliseconds that containers without `monitor` are watched (`DEPLOY_WATCH`). */
  readonly watchMs: number;
  readonly progress: Progress;
  /** Arguments for compose about a release: project, variables, model. */
  call(onDisk: ReleaseOnDisk): ComposeCall;
  /**
   * Refuses, by throwing, a release that today's rules refuse: asked right before its containers are
   * made, as what its mounts lead to, and whose its volumes and networks are, may have changed. With
   * `starts` also what only Stackwright may start.
   */
  requireAllowed(onDisk: ReleaseOnDisk, signal: AbortSignal, starts?: ComposeStarts): Promise<void>;
  /** Makes a new plan from what runs now, from the failed release to another one. */
  replan(release: Release, observed: ObservedStack, failed: Release): readonly ServicePlan[];
  /** Fetches the images, and copies the files, that a plan for an earlier release lacks. */
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

/**
 * Words for what putting a release back did: what of it was restored, and what was taken away again since it
 * was new. `tried` is the plan that failed: what that replaced and the release does not have is not restored.
 */
export function saidOfBack(
  back: readonly ServicePlan[],
  tried: readonly ServicePlan[],
  nothing: string,
): string {
  const replaced = new Set(tried.filter(({ action }) => action === "recreate").map(nameOf));
  const [removed, others] = [back.filter(goes), back.filter((each) => !goes(each))];
  const restored = changedNames(others);
  const gone = removed.map(nameOf).map((name) =>
    replaced.has(name) ? `${name} (what ran of it before was replaced)` : name
  );
  const said = [["restored", restored], ["removed", gone]] as const;
  return said.filter(([, names]) => names.length > 0)
    .map(([verb, names]) => `${verb} ${fewOf(names)}`).join("; ") || nothing;
}

function goes({ action }: ServicePlan): boolean {
  return action === "remove";
}

function nameOf({ name }: ServicePlan): string {
  return name;
}
