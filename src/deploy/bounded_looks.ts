import { errors, messageOf, type Revision, type StackKey } from "../model/mod.ts";
import { type Clock, type Log, withDeadline } from "../system/mod.ts";

/** Milliseconds in which the containers of one stack have to be inspected: usually that takes 10. */
const LONGEST_MS = 10_000;

interface Inspected {
  readonly key: StackKey;
  readonly revision: Revision;
  /** Revision of its configuration, if that has another source. */
  readonly configuration?: Revision | undefined;
}

/**
 * Looks at the containers of one stack after the other, without waiting for those that cannot be inspected:
 * by where its log goes, the author of a container may have the engine never answer about it. The other
 * stacks of such a source are not inspected either, so that it makes all others wait once.
 */
export class BoundedLooks {
  readonly #parts: { readonly clock: Clock; readonly log: Log };
  readonly #slow = new Set<string>();

  constructor(parts: { readonly clock: Clock; readonly log: Log }) {
    this.#parts = parts;
  }

  /** The result of `look`; `undefined`, and logged, where it failed or took too long. Can be aborted. */
  async run<T>(
    { key, revision, configuration = revision }: Inspected,
    look: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { clock, log } = this.#parts;
    if (this.#slow.has(configuration.source.name)) return undefined;
    const late = () => errors.timeout(`the engine did not answer within ${LONGEST_MS / 1000} s`);
    try {
      return await withDeadline({ clock, milliseconds: LONGEST_MS, late }, look, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#slow.add(configuration.source.name);
      const why = `the containers of ${key.name} could not be inspected: ${messageOf(error)}; ` +
        "what was changed by hand in the stacks of its repository is not looked for now";
      log.warning(why, { stack: key.name, context: key.context });
      return undefined;
    }
  }
}
