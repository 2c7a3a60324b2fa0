import { Buffer } from "node:buffer";
import { StackwrightError } from "../model/mod.ts";
import { type Clock, type RunningCommand, withDeadline } from "../system/mod.ts";
import { damagedError } from "./git_failure.ts";
import { abortable } from "./keyed_queue.ts";

/** One object as git stores it. */
export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
}

/** What a reader is made of. */
export interface ReaderParts {
  /** Starts `git cat-file --batch` for the repository. */
  readonly start: () => Promise<RunningCommand>;
  readonly clock: Clock;
  /** Milliseconds without a question after which the program is ended. */
  readonly idleMs: number;
  /** Longest wait for an answer, in milliseconds; a program that hangs is ended then. */
  readonly answerMs: number;
  /** Largest object that is read into memory, in bytes. */
  readonly largest: number;
}

interface Question {
  readonly name: string;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads objects of one mirror through one long-lived program: a question costs a tenth of a
 * millisecond instead of a process. The program is started when needed, ended when idle, and started
 * again when it died.
 */
export class ObjectReader {
  readonly #parts: ReaderParts;
  #session: Session | undefined;
  #starting: Promise<Session> | undefined;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /**
   * The object with an id, a reference name, or a name such as `<commit>^{tree}`; `undefined` when
   * the mirror does not have it. Names come from us, never from a repository.
   *
   * Throws `source_invalid` when the mirror cannot be read at all, or the object is too large, and
   * `timeout` when git does not answer.
   */
  async read(name: string, signal: AbortSignal): Promise<GitObject | undefined> {
    if (/[\n\0]/.test(name)) {
      throw new StackwrightError("internal", "BUG: object name with a break");
    }
    for (let attempt = 1;; attempt++) {
      const session = await this.#open();
      try {
        return await this.#answer(session, name, signal);
      } catch (error) {
        if (error !== ENDED) throw error;
        if (this.#session === session) this.#session = undefined;
        if (attempt === 2) throw damagedError("git cannot read the objects of the mirror");
      }
    }
  }

  async #answer(session: Session, name: string, signal: AbortSignal) {
    const { clock, answerMs } = this.#parts;
    const late = () => {
      if (this.#session === session) this.#session = undefined;
      void session.close();
      const seconds = answerMs / 1000;
      return new StackwrightError(
        "timeout",
        `git cat-file did not answer within ${seconds} s and was ended; is the disk of the data directory slow or gone?`,
      );
    };
    const ask = (within: AbortSignal) => abortable(session.ask(name), within);
    return await withDeadline({ clock, milliseconds: answerMs, late }, ask, signal);
  }

  /** Ends the program, for example because its files were replaced. Reading starts another one. */
  async close(): Promise<void> {
    const session = this.#session ?? await this.#starting?.catch(() => undefined);
    this.#session = undefined;
    await session?.close();
  }

  async #open(): Promise<Session> {
    if (this.#session !== undefined) return this.#session;
    this.#starting ??= this.#begin();
    try {
      return await this.#starting;
    } finally {
      this.#starting = undefined;
    }
  }

  async #begin(): Promise<Session> {
    const session = new Session(await this.#parts.start(), this.#parts);
    this.#session = session;
    session.whenEnded.then(() => {
      if (this.#session === session) this.#session = undefined;
    });
    return session;
  }
}

/** Rejects questions whose program ended before it answered. */
const ENDED: unique symbol = Symbol("program ended");

/** One running program. */
class Session {
  readonly whenEnded: Promise<void>;
  readonly #program: RunningCommand;
  readonly #parts: ReaderParts;
  readonly #questions: Question[] = [];
  readonly #stopIdling = new AbortController();
  #lastUse: number;
  #ended = false;

  constructor(program: RunningCommand, parts: ReaderParts) {
    this.#program = program;
    this.#parts = parts;
    this.#lastUse = parts.clock.now().getTime();
    this.whenEnded = this.#pump();
    this.#idle();
  }

  ask(name: string): Promise<GitObject | undefined> {
    if (this.#ended) return Promise.reject(ENDED);
    this.#lastUse = this.#parts.clock.now().getTime();
    return new Promise((resolve, reject) => {
      this.#questions.push({ name, resolve, reject });
      this.#program.write(`${name}\n`);
    });
  }

  async close(): Promise<void> {
    this.#stopIdling.abort();
    await this.#program.close();
    await this.whenEnded;
  }

  async #pump(): Promise<void> {
    const parser = new AnswerParser();
    try {
      for await (const chunk of this.#program.output) {
        for (const answer of parser.push(chunk)) this.#questions.shift()?.resolve(answer);
        if (parser.awaited > this.#parts.largest) {
          this.#refuse(parser.awaited);
          break;
        }
      }
    } catch {
      // The program could not be started; its questions are answered below like those of a dead one.
    }
    this.#ended = true;
    this.#stopIdling.abort();
    for (const question of this.#questions.splice(0)) question.reject(ENDED);
  }

  /** The content would follow anyway, so the program has to go. */
  #refuse(size: number): void {
    const question = this.#questions.shift();
    question?.reject(
      new StackwrightError(
        "source_invalid",
        `a file of ${size} bytes is too large to be read (limit ${this.#parts.largest} bytes)`,
      ),
    );
    this.#ended = true;
    this.#program.close().catch(() => {});
  }

  async #idle(): Promise<void> {
    const { clock, idleMs } = this.#parts;
    try {
      do await clock.sleep(idleMs, this.#stopIdling.signal); while (
        this.#questions.length > 0 || clock.now().getTime() - this.#lastUse < idleMs
      );
      await this.close();
    } catch {
      // The program ended or was closed: nobody is idle any more.
    }
  }
}

/** Splits the output of `git cat-file --batch` into answers, whatever the chunks are. */
export class AnswerParser {
  #held: Uint8Array[] = [];
  #length = 0;
  #head: { id: string; type: string; size: number } | undefined;

  /** Size in bytes of the content that is being received, 0 between answers. */
  get awaited(): number {
    return this.#head?.size ?? 0;
  }

  /** Takes the next chunk and returns the answers it completed; `undefined` stands for "missing". */
  push(chunk: Uint8Array): (GitObject | undefined)[] {
    this.#held.push(chunk);
    this.#length += chunk.length;
    const answers: (GitObject | undefined)[] = [];
    for (;;) {
      // Joining only when the content is complete keeps large objects linear.
      if (this.#head !== undefined && this.#length < this.#head.size + 1) return answers;
      const bytes = this.#join();
      if (this.#head === undefined) {
        const end = bytes.indexOf(0x0a);
        if (end < 0) return answers;
        const line = new TextDecoder().decode(bytes.subarray(0, end));
        this.#keep(bytes.subarray(end + 1));
        const match = /^([0-9a-f]+) (commit|tree|blob|tag) (\d+)$/.exec(line);
        if (match === null) answers.push(undefined);
        else this.#head = { id: match[1] ?? "", type: match[2] ?? "", size: Number(match[3]) };
      } else {
        const { id, type, size } = this.#head;
        answers.push({ id, type, data: new Uint8Array(bytes.subarray(0, size)) });
        this.#keep(bytes.subarray(size + 1));
        this.#head = undefined;
      }
    }
  }

  #join(): Uint8Array {
    if (this.#held.length !== 1) this.#held = [Buffer.concat(this.#held)];
    return this.#held[0] ?? new Uint8Array();
  }

  #keep(rest: Uint8Array): void {
    this.#held = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }
}
