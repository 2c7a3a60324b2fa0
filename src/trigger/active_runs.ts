import { count } from "../system/mod.ts";

/** The runs of jobs that are under way or waiting, counted by job and by source. */
export class ActiveRuns {
  readonly #ofJob = new Map<string, number>();
  readonly #ofSource = new Map<string, number>();

  /** Number of jobs with such a run. */
  get size(): number {
    return this.#ofJob.size;
  }

  /** Whether a job has such a run. */
  has(job: string): boolean {
    return this.#ofJob.has(job);
  }

  /** Number of such runs of a source's jobs. */
  ofSource(source: string): number {
    return this.#ofSource.get(source) ?? 0;
  }

  /** Counts a run; returns a function that records its end, and is called once. */
  begin(job: string, source: string): () => void {
    count(this.#ofJob, job, 1);
    count(this.#ofSource, source, 1);
    return () => {
      count(this.#ofJob, job, -1);
      count(this.#ofSource, source, -1);
    };
  }
}
