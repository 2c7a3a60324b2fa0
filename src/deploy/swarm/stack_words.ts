import type { Engine } from "../../docker/engine.ts";
import type { ObservedStack, Progress, Release, ServicePlan } from "../../model/mod.ts";
import type { Clock, Files, Log } from "../../system/mod.ts";
import type { ReleaseOnDisk } from "../rollout_words.ts";
import type { StackFiles } from "../stack_files.ts";

/** Numbers of old revisions of configs and secrets to keep; -1 keeps all. */
export interface Retention {
  readonly configs: number;
  readonly secrets: number;
}

/** Parts that only stacks of a swarm need. */
export interface SwarmParts {
  readonly contents: Pick<Files, "readPlain" | "realPath" | "stat">;
  /** Keyed digest of a text, in hex digits. */
  digest(text: string): string;
  /** Credentials for the registry of an image, as `X-Registry-Auth`; empty without any. */
  auth(image: string): Promise<string>;
  /** Directory of a stack as seen by its engine. */
  stackDirectory(release: Pick<Release, "key">): string;
  readonly retention: Retention;
}

/** Ports of a stack's rollout. */
export interface StackRolloutParts {
  readonly engine: Engine;
  readonly swarm: SwarmParts;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Pick<StackFiles, "switchTo">;
  readonly progress: Progress;
  /** Refuses, by throwing `conflict`, a release with volumes or networks that are another stack's. */
  requireOwn(release: Release, signal: AbortSignal): Promise<void>;
  /** Refuses, by throwing, a release that today's rules refuse; asked right before it is posted. */
  requireAllowed(onDisk: ReleaseOnDisk, signal: AbortSignal): Promise<void>;
  /** Makes a new plan from what runs now, from the failed release to another one. */
  replan(release: Release, observed: ObservedStack, failed: Release): readonly ServicePlan[];
}

/** A release of a stack with the images that its services are to run. */
export interface StackRelease extends ReleaseOnDisk {
  /** Image with its digest by service; any other service keeps its image, or runs the tag. */
  readonly images: Readonly<Record<string, string>>;
}
