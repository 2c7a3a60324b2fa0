import { type EventStreamParts, followEvents } from "./event_stream.ts";

/** Somebody who is told what happens at an engine; neither function may throw. */
type EventListener = Pick<EventStreamParts, "onEvent" | "onGap">;

/** The events of one engine, by one stream for all who want to know, from when the first one does. */
export class SharedEvents {
  readonly #parts: Omit<EventStreamParts, keyof EventListener>;
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<EventListener>();
  #stream: Promise<void> | undefined;

  /** Events that are followed until `signal` aborts. */
  constructor(parts: Omit<EventStreamParts, keyof EventListener>, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /**
   * Tells a listener each event from now on, and first that it may have missed something; see
   * {@link followEvents}. Returns when nothing is told any more; never rejects.
   */
  follow(listener: EventListener): Promise<void> {
    this.#listeners.add(listener);
    const told = this.#stream;
    if (told !== undefined) {
      if (!this.#signal.aborted) listener.onGap();
      return told;
    }
    this.#stream = followEvents({
      ...this.#parts,
      onEvent: (event) => this.#listeners.forEach((each) => each.onEvent(event)),
      onGap: () => this.#listeners.forEach((each) => each.onGap()),
    }, this.#signal);
    return this.#stream;
  }
}
