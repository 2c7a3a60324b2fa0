/** Memory of the release that failed last and was not followed by a success. */
export interface FailureRecord {
  /** Digest of the release. */
  readonly release: string;
  /** Number of times that it failed, without attempts of a person at what had failed already. */
  readonly failures: number;
  /** Automatic attempts after the original one. */
  readonly automaticAttempts: number;
  /** What a delay is counted from. */
  readonly lastFailedAt: Date;
  /** Time at which a person tried it once more, later than that, and it failed. */
  readonly byHandAt?: Date;
  readonly message: string;
}
