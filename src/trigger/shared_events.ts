import { type EventStreamParts, followEvents } from "./event_stream.ts";

/** A listener to an engine's events; neither function may throw. */
type EventListener = Pick<EventStreamParts, "onEvent" | "onGap">;

/** Shares one stream of an engine's events among listeners; opened for the first one. */
export class SharedEvents {
  readonly #parts: Omit<EventStreamParts, keyof EventListener>;
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<EventListener>();
  #stream: Promise<void> | undefined;

  /** Follows events until `signal` aborts. */
  constructor(parts: Omit<EventStreamParts, keyof EventListener>, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Tells a listener each event from now on, after `onGap`; returns when following ends. */
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
