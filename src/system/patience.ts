import { atEnd } from "./at_end.ts";
import type { Clock } from "./clock.ts";

/** Milliseconds between two looks at who is waited for. */
const LOOK_MS = 1000;

/** How long others are waited for. */
interface Patience {
  readonly clock: Clock;
  /** Milliseconds of waiting for others, one after the other, after which it ends. */
  readonly milliseconds: number;
  /** Whether it is others who are waited for at this moment. */
  readonly isOthers: () => boolean;
  /** Called at each look during the wait. */
  readonly look: () => void;
  /** The error at the end; may throw another one. */
  readonly late: () => Error;
}

/**
 * Does work that begins with a wait, until it calls `enter`, and is patient while that is not for others:
 * `within` aborts with the error of `late` when it has been for these long enough.
 */
export async function patiently<T>(
  { clock, milliseconds, isOthers, look, late }: Patience,
  work: (within: AbortSignal, enter: () => void) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const [over, entered] = [new AbortController(), new AbortController()];
  const outwait = async () => {
    for (let waited = 0; waited < milliseconds;) {
      look();
      await clock.sleep(LOOK_MS, entered.signal);
      if (isOthers()) waited += LOOK_MS;
    }
    throw late();
  };
  // A reason avoids the costly default exception with its stack.
  const enter = () => entered.abort("entered");
  outwait().catch((error) => over.abort(error));
  using _ = atEnd(enter);
  return await work(AbortSignal.any([signal, over.signal]), enter);
}
