/** The removal of a stack among what failed of it, in the place of a release's digest. */
export const REMOVAL = "removal";

/** The release that failed last and that no success has followed. */
export interface FailureRecord {
  /** Digest of the release, or {@link REMOVAL}. */
  readonly release: string;
  /** Number of failures, without manual retries of a release that had failed already. */
  readonly failures: number;
  /** Automatic retries after the original attempt. */
  readonly automaticAttempts: number;
  /** Time from which the delay of a retry counts. */
  readonly lastFailedAt: Date;
  /** Number of failed manual retries of a release that had failed already. */
  readonly byHand: number;
  /** Time of a failed manual retry after `lastFailedAt`. */
  readonly byHandAt?: Date;
  readonly message: string;
}
