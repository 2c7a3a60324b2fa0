import type { StackKey } from "../model/mod.ts";
import { stackOfOwner } from "./secret_owners.ts";

/** Asks for the secrets of a stack when a text about it is about to be told. */
export class AskedStacks {
  #ask: ((key: StackKey) => boolean) | undefined;
  #isAsking = false;

  /** Sets who is asked; the returned function ends that. */
  set(ask: (key: StackKey) => boolean): () => void {
    this.#ask = ask;
    return () => {
      if (this.#ask === ask) this.#ask = undefined;
    };
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
