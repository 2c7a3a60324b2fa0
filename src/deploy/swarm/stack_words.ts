import type { Engine } from "../../docker/engine.ts";
import type { ObservedStack, Progress, Release, ServicePlan } from "../../model/mod.ts";
import type { Clock, Files, Log } from "../../system/mod.ts";
import type { ReleaseOnDisk } from "../rollout_words.ts";
import type { StackFiles } from "../stack_files.ts";

/** Numbers of old revisions of configs and secrets that stay beside the one in use; -1 is all. */
export interface Retention {
  readonly configs: number;
  readonly secrets: number;
}

/** Parts that only a stack of a swarm is made with. */
export interface SwarmParts {
  /** Reads the files of a tree. */
  readonly contents: Pick<Files, "readPlain" | "realPath" | "stat">;
  /** Keyed digest of a text, in hex digits. */
  digest(text: string): string;
  /** Credentials for the registry of an image, as `X-Registry-Auth` has them; empty for none. */
  auth(image: string): Promise<string>;
  /** Directory of a stack as its engine sees it. */
  stackDirectory(release: Pick<Release, "key">): string;
  readonly retention: Retention;
}

/** Parts that a stack is rolled out with. */
export interface StackRolloutParts {
  readonly engine: Engine;
  readonly swarm: SwarmParts;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Pick<StackFiles, "switchTo">;
  readonly progress: Progress;
  /** Decides again, from what runs now, how to get from the release that failed to another. */
  replan(release: Release, observed: ObservedStack, failed: Release): readonly ServicePlan[];
}

/** A release of a stack with the images that its services are to run. */
export interface StackRelease extends ReleaseOnDisk {
  /** Image with its digest by service; a service that is not in it keeps its image, or runs the tag. */
  readonly images: Readonly<Record<string, string>>;
}
