import type { Run, SourceRequest, Sync } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import type { LookAtRepository } from "./repository_changes.ts";

/** Hands work in; `finished` never rejects. Throws `shutting_down` when nothing is let in any more. */
type Submit = (work: Sync) => { readonly finished: Promise<Run> };

/** Ports of polls. */
export interface PollParts {
  readonly submit: Submit;
  readonly clock: Clock;
  readonly log: Log;
  /** IANA zone of schedules that name none. */
  readonly timeZone: string;
  /** How changes of a source on this machine are seen; `undefined` for one that is elsewhere. */
  readonly look?: (request: SourceRequest) => LookAtRepository | undefined;
  /** Until when the host of a source wants to be left alone, if it does. */
  readonly heldUntil?: (request: SourceRequest) => Date | undefined;
  /** A number from 0 up to 1, to spread polls that would start at the same time. */
  readonly random: () => number;
}

/** Longest time by chance between polls that would start at the same time, in seconds. */
export const LONGEST_SPREAD = 30;
