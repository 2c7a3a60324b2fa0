import {
  type Revision,
  type ServicePlan,
  type StackwrightError,
  type TargetEnd,
  type TargetListener,
  type TargetNews,
  type ToldDecision,
  type ToldTarget,
  toStackwrightError,
} from "../model/mod.ts";

/** The one voice that tells what becomes of a target. */
export interface Teller {
  readonly target: ToldTarget;
  /** Tells every listener, in their order. A step that was told last is not told again. */
  tell(news: TargetNews): void;
  /** Tells of a decision, and that it is carried out from now on. */
  begin(kind: ToldDecision["kind"], message: string, services?: readonly ServicePlan[]): void;
  /**
   * Tells that something thrown ended what was being done ("removing web"), or the abort of `signal`
   * that made it throw, and when it is tried again, if that is known. Returns what was told.
   */
  fail(
    doing: string,
    thrown: unknown,
    signal: AbortSignal,
    again?: Pick<TargetEnd, "retryAt">,
  ): StackwrightError;
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
    begin(kind, message, services = []) {
      tell({ kind: "decided", decision: { kind, message, changes: [], services } });
      tell({ kind: "started" });
    },
    fail(doing, thrown, signal, again = {}) {
      const error = toStackwrightError(signal.aborted ? signal.reason : thrown, doing);
      tell({ kind: "ended", end: { status: "failed", message: error.message, error, ...again } });
      return error;
    },
    lookAt(other) {
      about = other;
    },
  };
}
