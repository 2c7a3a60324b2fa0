import type { Release } from "../../model/mod.ts";
import type { Files } from "../../system/mod.ts";
import type { ReleaseOnDisk, RolloutParts } from "../rollout_words.ts";
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
  /** Sources whose things the stack has, too, by a hand-over; `undefined` while it has all of its name. */
  readonly handedOver: ReadonlySet<string> | undefined;
}

/** Ports of a stack's rollout. */
export interface StackRolloutParts
  extends Pick<RolloutParts, "engine" | "clock" | "log" | "progress" | "replan"> {
  readonly swarm: SwarmParts;
  readonly files: Pick<StackFiles, "switchTo">;
  /** Refuses, by throwing `conflict`, a release with volumes or networks that are another stack's. */
  requireOwn(release: Release, signal: AbortSignal): Promise<void>;
  /** Refuses, by throwing, a release that today's rules refuse; asked right before it is posted. */
  requireAllowed(onDisk: ReleaseOnDisk, signal: AbortSignal): Promise<void>;
}

/** A release of a stack with the images that its services are to run. */
export interface StackRelease extends ReleaseOnDisk {
  /** Image with its digest by service; any other service keeps its image, or runs the tag. */
  readonly images: Readonly<Record<string, string>>;
}
