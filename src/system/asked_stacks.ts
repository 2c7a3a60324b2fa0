import type { StackKey } from "../model/mod.ts";
import { stackOfOwner } from "./secret_owners.ts";

/** Asks for the secrets of a stack when a text about it is about to be told. */
export class AskedStacks {
  #ask: ((key: StackKey) => boolean) | undefined;
  #onCut: ((key: StackKey) => void) | undefined;
  #isAsking = false;

  /** Sets who is asked, and told of stacks that lost some; the returned function ends that. */
  set(ask: (key: StackKey) => boolean, onCut?: (key: StackKey) => void): () => void {
    this.#ask = ask;
    this.#onCut = onCut;
    return () => {
      if (this.#ask === ask) this.#ask = this.#onCut = undefined;
    };
  }

  /** Tells that some secrets of an owner were forgotten. */
  cut(owner: string): void {
    const key = stackOfOwner(owner);
    if (key !== undefined) this.#onCut?.(key);
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
