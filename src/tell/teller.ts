import {
  clip,
  LONGEST_MESSAGE,
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

/** Tells listeners what becomes of a target. */
export interface Teller {
  readonly target: ToldTarget;
  /** Tells all listeners, in their order. A step is not told twice in a row. */
  tell(news: TargetNews): void;
  /** Tells a decision, and that it is carried out from now on. */
  begin(kind: ToldDecision["kind"], message: string, services?: readonly ServicePlan[]): void;
  /**
   * Tells that an action ("removing web") failed with something thrown, or with the reason of an
   * aborted `signal`, and `more` of that end, if known. Returns the error that was told.
   */
  fail(
    doing: string,
    thrown: unknown,
    signal: AbortSignal,
    more?: Pick<TargetEnd, "retryAt" | "isOthers">,
  ): StackwrightError;
  /** Sets the revision of later events. */
  lookAt(revision: Revision): void;
}

/** Makes the teller of one target. `revision` counts until {@link Teller.lookAt} sets another. */
export function createTeller(
  listeners: readonly TargetListener[],
  target: ToldTarget,
  revision: Revision,
): Teller {
  const hearing = listeners.map((listen) => listen(target));
  let about = revision;
  let step = "";
  const tell = (said: TargetNews) => {
    const news = withinLimit(said);
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
    fail(doing, thrown, signal, more = {}) {
      const error = toStackwrightError(signal.aborted ? signal.reason : thrown, doing);
      tell({ kind: "ended", end: { status: "failed", message: error.message, error, ...more } });
      return error;
    },
    lookAt(other) {
      about = other;
    },
  };
}

/** News whose message is not too long to be masked, logged and kept, whoever named what it tells of. */
function withinLimit(news: TargetNews): TargetNews {
  if (news.kind === "step") return { ...news, text: clip(news.text, LONGEST_MESSAGE) };
  if (news.kind === "decided") return { ...news, decision: withShortMessage(news.decision) };
  return news.kind === "ended" ? { ...news, end: withShortMessage(news.end) } : news;
}

function withShortMessage<T extends { readonly message: string }>(told: T): T {
  return { ...told, message: clip(told.message, LONGEST_MESSAGE) };
}
