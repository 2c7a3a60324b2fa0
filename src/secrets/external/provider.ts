import { errors, type SecretReference, type StackwrightError } from "../../model/mod.ts";

/** A store of secrets, as one of its kinds (`SECRET_PROVIDER`). */
export interface SecretProvider {
  /** Name of the kind, for messages. */
  readonly name: string;
  /** Begins to read: one reader asks the store for the same thing once only. */
  open(): SecretReader;
}

/** Reads secrets for one run, in which values are taken as unchanged. */
interface SecretReader {
  /** The value of a reference. Throws `secret_unresolved`, naming neither value nor credentials. */
  read(reference: SecretReference, signal: AbortSignal): Promise<string>;
}

/** The failure of one reference. The reason ends up in the message of its deployment. */
export function unresolved(reason: string): StackwrightError {
  return errors.secret_unresolved(reason);
}

/** The text of a scalar reference, for providers that know no stores. */
export function referenceText(reference: SecretReference, shape: string): string {
  if (reference.kind === "store") {
    throw unresolved(
      `store_ref is for the webhook provider only; this provider expects text: ${shape}`,
    );
  }
  const text = reference.text.trim();
  if (text === "") throw unresolved(`the reference is empty; expected ${shape}`);
  return text;
}

/** Remembers what was asked for under a key, failures included. */
export class Memo<T> {
  readonly #known = new Map<string, Promise<T>>();

  /** The result of `make`, which runs once per key. */
  get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = make();
    // Avoids an unhandled rejection when nobody waits for it any more.
    made.catch(() => {});
    this.#known.set(key, made);
    return made;
  }
}
