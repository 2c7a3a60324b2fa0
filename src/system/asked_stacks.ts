import type { StackKey } from "../model/mod.ts";
import { stackOfOwner } from "./secret_owners.ts";

/** Waits until the secrets of a stack are known, for a limited time. */
export type Learn = (key: StackKey, signal: AbortSignal) => Promise<unknown>;

/** Asks for the secrets of a stack when a text about it is about to be told. */
export class AskedStacks {
  #ask: ((key: StackKey) => boolean) | undefined;
  #learn: Learn | undefined;
  #isAsking = false;

  /** Sets who is asked, and who waits; the returned function ends that. */
  set(ask: (key: StackKey) => boolean, learn?: Learn): () => void {
    this.#ask = ask;
    this.#learn = learn;
    return () => {
      if (this.#ask === ask) this.#ask = undefined;
    };
  }

  /** Waits for the secrets of the stacks among owners; rejects with the signal's reason. */
  async learned(owners: readonly string[], signal: AbortSignal): Promise<void> {
    const keys = owners.map(stackOfOwner).filter((key) => key !== undefined);
    // What is wrong with the ledger is said by who needs it.
    await Promise.allSettled(keys.map((key) => this.#learn?.(key, signal)));
    signal.throwIfAborted();
  }

  /**
   * Asks for the secrets of the stacks among the owners that a text is about. False when those of one
   * are not all known yet, so that the text cannot be told.
   */
  about(owners: readonly string[]): boolean {
    if (this.#ask === undefined || this.#isAsking || owners.length === 0) return true;
    let isKnown = true;
    this.#isAsking = true;
    try {
      for (const owner of owners) {
        const key = stackOfOwner(owner);
        if (key !== undefined && !this.#ask(key)) isKnown = false;
      }
    } catch {
      // A text is told in any case: what is wrong with the ledger has to be said as well.
    } finally {
      this.#isAsking = false;
    }
    return isKnown;
  }
}
