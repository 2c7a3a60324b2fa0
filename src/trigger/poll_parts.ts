import type { PollEntry } from "../config/mod.ts";
import type { SourceRequest, Sync } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import type { LookAtRepository } from "./repository_changes.ts";

/**
 * Submits work; its run counts as ended once it `gaveWay`, at its end at the latest. Neither promise rejects. Throws
 * `shutting_down` once the intake closes.
 */
type Submit = (work: Sync) => {
  readonly finished: Promise<unknown>;
  readonly gaveWay: Promise<void>;
};

/** Ports of polls. */
export interface PollParts {
  readonly submit: Submit;
  /** Hears when an entry's interval ends that begins now. It must not throw. */
  readonly planned?: (entry: PollEntry, at: Date) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** IANA zone of schedules that name none. */
  readonly timeZone: string;
  /** Detects changes of a repository on this machine; `undefined` for one elsewhere. */
  readonly look?: (request: SourceRequest) => LookAtRepository | undefined;
  /** Time until which a source's host wants no requests, if it said so. */
  readonly heldUntil?: (request: SourceRequest) => Date | undefined;
  /** A random number from 0 up to 1, for spreading polls. */
  readonly random: () => number;
}

/** Longest random delay between polls that would start together, in seconds. */
export const LONGEST_SPREAD = 30;
