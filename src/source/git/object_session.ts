import { errors, isStackwrightError, StackwrightError } from "../../model/mod.ts";
import type { Clock, RunningCommand } from "../../system/mod.ts";
import { AnswerParser, type GitObject } from "./answer_parser.ts";
import { classifyFailure } from "./git_failure.ts";

/** Parts of a reader. */
export interface ReaderParts {
  /** Starts `git cat-file --batch-command` for the repository; with much memory where `isLarge`. */
  readonly start: (isLarge: boolean) => Promise<RunningCommand>;
  readonly clock: Clock;
  /** Milliseconds without a question after which the program is ended. */
  readonly idleMs: number;
  /** Milliseconds without a byte after which a program with open questions is given up. */
  readonly answerMs: number;
}

/** What is asked about an object: all of it, or its type and size without the content. */
export type Asked = "contents" | "info";

interface Question {
  readonly asked: Asked;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** Rejects questions whose program ended before it answered. */
export const ENDED: unique symbol = Symbol("program ended");
/** Rejects questions behind one for which there was too little memory: nothing is known of these. */
export const CROWDED: unique symbol = Symbol("program ended for another question");

/** One running program. */
export class Session {
  readonly whenEnded: Promise<void>;
  readonly #program: RunningCommand;
  readonly #parts: ReaderParts;
  readonly #questions: Question[] = [];
  readonly #stopIdling = new AbortController();
  /** Time of the last byte from the program, or of the first of its open questions. */
  #lastUse: number;
  #ended = false;

  constructor(program: RunningCommand, parts: ReaderParts) {
    this.#program = program;
    this.#parts = parts;
    this.#lastUse = parts.clock.now().getTime();
    this.whenEnded = this.#pump();
    this.#watch();
  }

  ask(asked: Asked, name: string): Promise<GitObject | undefined> {
    if (this.#ended) return Promise.reject(ENDED);
    // Further questions must not postpone the timeout of an unanswered one.
    if (this.#questions.length === 0) this.#use();
    return new Promise((resolve, reject) => {
      this.#questions.push({ asked, resolve, reject });
      this.#program.write(`${asked} ${name}\n`);
    });
  }

  async close(): Promise<void> {
    this.#stopIdling.abort();
    await this.#program.close();
    await this.whenEnded;
  }

  async #pump(): Promise<void> {
    const parser = new AnswerParser(() => this.#questions[0]?.asked !== "info");
    let isTooLarge = false;
    try {
      for await (const chunk of this.#program.output) {
        this.#use();
        for (const answer of parser.push(chunk)) this.#questions.shift()?.resolve(answer);
        if (this.#questions.length === 0) this.#program.rest();
      }
    } catch (error) {
      // One that could not be started has its questions answered below like those of a dead one.
      isTooLarge = isStackwrightError(error, "payload_too_large");
    }
    this.#ended = true;
    this.#stopIdling.abort();
    isTooLarge ||= classifyFailure(this.#program.lastWords()) === "memory";
    // Only the first question was worked on.
    if (isTooLarge) this.#questions.shift()?.reject(tooLarge());
    const reason = isTooLarge ? CROWDED : ENDED;
    for (const question of this.#questions.splice(0)) question.reject(reason);
  }

  #use(): void {
    this.#lastUse = this.#parts.clock.now().getTime();
  }

  /** Ends the program when it is idle for too long, and when it does not answer. */
  async #watch(): Promise<void> {
    const { clock, idleMs, answerMs } = this.#parts;
    const limit = () => this.#questions.length > 0 ? answerMs : idleMs;
    try {
      do await clock.sleep(Math.min(idleMs, answerMs), this.#stopIdling.signal); while (
        clock.now().getTime() - this.#lastUse < limit()
      );
      if (this.#questions.length > 0) this.#giveUp();
      else await this.close();
    } catch {
      // The program ended or was closed: there is nothing to watch any more.
    }
  }

  /** Rejects the open questions without waiting for the hanging program to end. */
  #giveUp(): void {
    this.#ended = true;
    const seconds = this.#parts.answerMs / 1000;
    for (const question of this.#questions.splice(0)) {
      question.reject(
        errors.timeout(
          `git said nothing for ${seconds} s while it was asked for an object of a mirror; ` +
            "is the disk of the data directory all right?",
        ),
      );
    }
    this.#program.close().catch(() => {});
  }
}

const TOO_LARGE: unique symbol = Symbol("too large for the memory");

/** True for the error of an object for which the program had not enough memory. */
export function needsMemory(error: unknown): boolean {
  return error instanceof StackwrightError && error.cause === TOO_LARGE;
}

/** The error of an object that git has not enough memory for; its mirror is as it should be. */
function tooLarge() {
  return errors.source_invalid(
    "reading an object of the mirror takes more memory than git may have; take large files out of the " +
      "repository",
    { cause: TOO_LARGE },
  );
}
