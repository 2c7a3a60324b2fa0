/** The release that failed last and that no success has followed. */
export interface FailureRecord {
  /** Digest of the release. */
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
