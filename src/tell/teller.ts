import {
  type Revision,
  type StackwrightError,
  type TargetListener,
  type TargetNews,
  type ToldTarget,
  toStackwrightError,
} from "../model/mod.ts";

/** The one voice that tells what becomes of a target. */
export interface Teller {
  readonly target: ToldTarget;
  /** Tells every listener, in their order. A step that was told last is not told again. */
  tell(news: TargetNews): void;
  /**
   * Tells that something thrown ended what was being done ("removing web"), or the abort of `signal`
   * that made it throw. Returns what was told.
   */
  fail(doing: string, thrown: unknown, signal: AbortSignal): StackwrightError;
  /** Sets the revision that news are about from now on. */
  lookAt(revision: Revision): void;
}

/** Makes the teller of one target. `revision` is what is known before any other was looked at. */
export function createTeller(
  listeners: readonly TargetListener[],
  target: ToldTarget,
  revision: Revision,
): Teller {
  const hearing = listeners.map((listen) => listen(target));
  let about = revision;
  let step = "";
  const tell = (news: TargetNews) => {
    if (news.kind === "step") {
      if (news.text === step) return;
      step = news.text;
    }
    for (const hear of hearing) hear({ ...news, revision: about });
  };
  return {
    target,
    tell,
    fail(doing, thrown, signal) {
      const error = toStackwrightError(signal.aborted ? signal.reason : thrown, doing);
      tell({ kind: "ended", end: { status: "failed", message: error.message, error } });
      return error;
    },
    lookAt(other) {
      about = other;
    },
  };
}
