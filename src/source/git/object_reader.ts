import { errors } from "../../model/mod.ts";
import { abortable } from "../../system/mod.ts";
import type { GitObject } from "./answer_parser.ts";
import { damagedError } from "./git_failure.ts";
import { type Asked, ENDED, type ReaderParts, Session } from "./object_session.ts";

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
   * `timeout` when git says nothing for too long.
   */
  async read(name: string, signal: AbortSignal): Promise<GitObject | undefined> {
    return await this.#ask("contents", name, signal);
  }

  /** The size of an object in bytes, without reading its content. Like `read` otherwise. */
  async size(name: string, signal: AbortSignal): Promise<number | undefined> {
    return (await this.#ask("info", name, signal))?.size;
  }

  async #ask(asked: Asked, name: string, signal: AbortSignal): Promise<GitObject | undefined> {
    if (/[\n\0]/.test(name)) {
      throw errors.internal("BUG: object name with a break");
    }
    for (let attempt = 1;; attempt++) {
      const session = await this.#open();
      try {
        return await abortable(session.ask(asked, name), signal);
      } catch (error) {
        if (error !== ENDED) throw error;
        if (this.#session === session) this.#session = undefined;
        if (attempt === 2) throw damagedError("git cannot read the objects of the mirror");
      }
    }
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
