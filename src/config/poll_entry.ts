import type { SourceRequest } from "../model/mod.ts";

/** One source that is polled. */
export interface PollEntry {
  readonly request: SourceRequest;
  /** Seconds from the end of one poll to the next; 0 when no interval polls it. */
  readonly intervalSeconds: number;
  /** Cron expression, with its zone prefix if it has one. */
  readonly schedule?: string;
  readonly runOnce: boolean;
  /** Whether a local repository is watched for changes. */
  readonly watch: boolean;
}

/** Says what is wrong with a cron expression, or nothing. */
export type CheckSchedule = (schedule: string) => string | undefined;
