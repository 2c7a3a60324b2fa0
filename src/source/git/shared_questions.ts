import { abortable } from "../../system/mod.ts";

/** Questions that several ask at the same time and that are asked once. */
export interface SharedQuestions<Answer> {
  /**
   * The answer to the question under `key`: of whoever asks it in the same turn, or of `ask`. Nobody
   * gets an answer to a question that was asked before, because what made somebody ask may have
   * happened since; but where `round` is given, whoever gives the same object gets the same answer or
   * failure, however much later. It is kept as long as the object is. The question is given up when
   * everybody has given up; rejects with the reason of `signal`, or with what `ask` threw.
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

type Rounds<Answer> = WeakMap<object, Map<string, Question<Answer>>>;

/** Makes it, with no question under way. */
export function createSharedQuestions<Answer>(): SharedQuestions<Answer> {
  /** Those that were not asked yet. */
  const open = new Map<string, Question<Answer>>();
  const rounds: Rounds<Answer> = new WeakMap();
  const begin = (key: string, ask: (signal: AbortSignal) => Promise<Answer>) => {
    const given = new AbortController();
    const later = async () => {
      // Whoever was started together with the first one comes by here before these are over.
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
      const ofRound = round === undefined ? undefined : known(rounds, round);
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

function known<Answer>(rounds: Rounds<Answer>, round: object): Map<string, Question<Answer>> {
  const found = rounds.get(round) ?? new Map<string, Question<Answer>>();
  rounds.set(round, found);
  return found;
}
