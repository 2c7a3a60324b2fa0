import { abortable } from "./abortable.ts";

/** What is shared by those who ask the same while it waits for its turn. */
export interface Sharing<T> {
  /**
   * What `make` makes for the question `what`. It begins after the call, so that whoever changed something
   * before sees that. Its signal is aborted only when all who asked have given up. Rejects as `make` does,
   * or with the signal's reason.
   */
  ask(what: string, make: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Asked<T> {
  readonly answer: Promise<T>;
  readonly end: AbortController;
  waiting: number;
}

/**
 * Answers each question once at a time: those who ask while an answer is being made share the next one.
 * However many ask, an answer takes as long as two, and nothing is kept of it.
 */
export function createSharing<T>(): Sharing<T> {
  /** Answers that have not begun. */
  const next = new Map<string, Asked<T>>();
  /** Ends of the latest answer to each question. */
  const last = new Map<string, Promise<void>>();
  const leave = (what: string, asked: Asked<T>) => {
    if (next.get(what) === asked) next.delete(what);
  };
  const begin = (what: string, make: (signal: AbortSignal) => Promise<T>): Asked<T> => {
    const end = new AbortController();
    const before = last.get(what);
    const turn = async () => {
      await before;
      leave(what, asked);
      end.signal.throwIfAborted();
      return await make(end.signal);
    };
    const answer = turn();
    const asked = { answer, end, waiting: 0 };
    const over = answer.then(() => {}, () => {}).then(() => {
      if (last.get(what) === over) last.delete(what);
    });
    next.set(what, asked);
    last.set(what, over);
    return asked;
  };
  return {
    async ask(what, make, signal) {
      signal.throwIfAborted();
      const asked = next.get(what) ?? begin(what, make);
      asked.waiting++;
      try {
        return await abortable(asked.answer, signal);
      } finally {
        asked.waiting--;
        if (asked.waiting === 0) {
          // At once, so that nobody who comes now gets the end of those who gave up.
          leave(what, asked);
          asked.end.abort();
        }
      }
    },
  };
}
