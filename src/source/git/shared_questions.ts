import { abortable } from "../../system/mod.ts";

/** Deduplicates questions: callers that ask the same at the same time share one answer. */
export interface SharedQuestions<Answer> {
  /**
   * The answer to the question under `key`. Callers of the same turn share one call of `ask`. A later
   * caller never gets an older answer, because the event that made it ask may be newer; but callers
   * with the same `round` object share one answer or failure for as long as that object lives. The
   * call of `ask` is aborted when every caller has aborted. Rejects with the reason of `signal`, or
   * with what `ask` threw.
   */
  ask(
    key: string,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<Answer>,
    round?: object,
  ): Promise<Answer>;
}

interface Question<Answer> {
  readonly answer: Promise<Answer>;
  readonly given: AbortController;
  askers: number;
}

/** Makes shared questions, with none under way. */
export function createSharedQuestions<Answer>(): SharedQuestions<Answer> {
  /** Questions whose `ask` has not been called yet. */
  const open = new Map<string, Question<Answer>>();
  const rounds = new WeakMap<object, Map<string, Question<Answer>>>();
  const begin = (key: string, ask: (signal: AbortSignal) => Promise<Answer>) => {
    const given = new AbortController();
    const later = async () => {
      // Callers that were started together with the first one join within three microtasks.
      for (let turn = 0; turn < 3; turn++) await Promise.resolve();
      if (open.get(key) === question) open.delete(key);
      given.signal.throwIfAborted();
      return await ask(given.signal);
    };
    const question: Question<Answer> = { given, askers: 0, answer: later() };
    open.set(key, question);
    return question;
  };
  return {
    async ask(key, signal, ask, round) {
      const ofRound = round && rounds.getOrInsertComputed(round, () => new Map());
      const before = ofRound?.get(key);
      const isGivenUp = before?.given.signal.aborted === true;
      const question = (isGivenUp ? undefined : before) ?? open.get(key) ?? begin(key, ask);
      ofRound?.set(key, question);
      question.askers++;
      try {
        return await abortable(question.answer, signal);
      } finally {
        question.askers--;
        if (question.askers === 0 && signal.aborted) {
          if (open.get(key) === question) open.delete(key);
          question.given.abort(signal.reason);
        }
      }
    },
  };
}
