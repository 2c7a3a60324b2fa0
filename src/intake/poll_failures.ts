import { requestKey, sourcesOf, type Work } from "../model/mod.ts";

/** Memory of how polls failed: a log says once what fails every minute. */
export class PollFailures {
  /** Messages by what is polled; settings decide how much that is. */
  readonly #said = new Map<string, string>();

  /**
   * Takes note of the end of work, whose `failure` is its message if it failed; says whether that was
   * the end of its last poll, too, or whether a failure is over. `undefined` for all else.
   */
  note(work: Work, failure: string | undefined): "again" | "over" | undefined {
    if (work.trigger !== "poll" || work.origin !== "automatic") return undefined;
    const key = sourcesOf(work).map((each) => requestKey(each)).join();
    const before = this.#said.get(key);
    if (failure === undefined) return this.#said.delete(key) ? "over" : undefined;
    this.#said.set(key, failure);
    return failure === before ? "again" : undefined;
  }
}
