import { errors, shortId, utf8 } from "../../model/mod.ts";
import { abortable, atEnd, type FairLimiter } from "../../system/mod.ts";
import type { GitObject, ObjectInfo } from "./answer_parser.ts";
import { damagedError } from "./git_failure.ts";
import {
  type Asked,
  CROWDED,
  ENDED,
  needsMemory,
  type ReaderParts,
  Session,
} from "./object_session.ts";

/** Most tags on the way to a commit, each of which names the next one. */
const MOST_TAGS = 10;
/** Bytes from which an object is large. */
const LARGE = 256 * 1024;
/**
 * Most bytes of objects that are no files: a thousand times what commits and tags have, and more than a
 * directory with as many entries as a whole tree may have.
 */
export const LARGEST = { commit: 1024 * 1024, tag: 1024 * 1024, tree: 16 * 1024 * 1024 } as const;

interface Parts extends ReaderParts {
  /** Largest file that is read into memory, in bytes. */
  readonly largest: number;
  /** Lets one large object of this process be in use at a time; repositories take turns. */
  readonly large: FairLimiter;
  /** The name of the repository in these turns. */
  readonly name: string;
}

/**
 * Reads objects of one mirror through one long-lived program: a question costs a tenth of a millisecond
 * instead of a process. It is started when needed, ended when idle, and started again when it died.
 */
export class ObjectReader {
  readonly #parts: Parts;
  #session: Session | undefined;
  #starting: Promise<Session> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * What git tells of the object with an id, or a reference name;
   * `undefined` when the mirror does not have it. Names come from us, never from a repository.
   *
   * Throws `source_invalid` when the mirror cannot be read, and `timeout` when git says nothing.
   */
  async info(name: string, signal: AbortSignal): Promise<ObjectInfo | undefined> {
    return await this.#ask("info", name, signal);
  }

  /**
   * The commit that a name leads to, by way of tags, too; `undefined` when there is none. Git reads no
   * commit for it: `<name>^{commit}` would fill git's memory with commits of any size. Throws as `info`.
   */
  async commit(name: string, signal: AbortSignal): Promise<ObjectInfo | undefined> {
    let found = await this.info(name, signal);
    for (let tags = 0; found?.type === "tag" && tags < MOST_TAGS; tags++) {
      const { data } = await this.contents(found, signal);
      const [, tagged] = /^object ([0-9a-f]{40})\n/.exec(utf8(data)) ?? [];
      found = tagged === undefined ? undefined : await this.info(tagged, signal);
    }
    return found?.type === "commit" ? found : undefined;
  }

  /**
   * The content of an object of which `info` told. `use` gets it in its turn where it is large, and keeps
   * no part of it. Throws as `info`, and `source_invalid` for one that is too large.
   */
  async contents<T = GitObject>(
    info: ObjectInfo,
    signal: AbortSignal,
    use: (object: GitObject) => T | Promise<T> = (object) => object as T,
  ): Promise<T> {
    this.#requireSize(info);
    const { large, name } = this.#parts;
    const inTurn = (work: () => Promise<T>) => large.run(name, work, signal);
    let object: GitObject;
    try {
      if (info.size > LARGE) {
        return await inTurn(async () => await use(await this.#read(info, signal)));
      }
      object = await this.#read(info, signal);
    } catch (error) {
      if (!needsMemory(error)) throw error;
      return await inTurn(async () => await use(await this.#readAlone(info, signal)));
    }
    return await use(object);
  }

  async #read({ id }: ObjectInfo, signal: AbortSignal): Promise<GitObject> {
    const object = await this.#ask("contents", id, signal);
    if (object === undefined) throw damagedError(`the mirror lacks the object ${id}`);
    return object;
  }

  /** The same by a program of its own: what it unpacked for a delta does not stay. */
  async #readAlone({ id }: ObjectInfo, signal: AbortSignal): Promise<GitObject> {
    const session = new Session(await this.#parts.start(true), this.#parts);
    try {
      const object = await abortable(session.ask("contents", id), signal);
      if (object !== undefined) return object;
    } catch (error) {
      if (error !== ENDED) throw error;
    } finally {
      await session.close();
    }
    throw damagedError(`the mirror lacks the object ${id}`);
  }

  /** Throws `source_invalid` for an object that is larger than one of its type may be. */
  #requireSize({ id, type, size }: ObjectInfo): void {
    const most = type in LARGEST ? LARGEST[type as keyof typeof LARGEST] : this.#parts.largest;
    if (size <= most) return;
    const what = { blob: "file", tree: "directory" }[type] ?? type;
    throw errors.source_invalid(
      `the ${what} ${shortId(id)} of ${size} bytes is too large to be read (limit ${most} bytes)`,
    );
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
        if (error !== ENDED && error !== CROWDED) throw error;
        if (this.#session === session) this.#session = undefined;
        // Each time the memory was too little, one question less is asked of it.
        if (error === CROWDED) attempt--;
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
    using _ = atEnd(() => this.#starting = undefined);
    return await this.#starting;
  }

  async #begin(): Promise<Session> {
    const session = new Session(await this.#parts.start(false), this.#parts);
    this.#session = session;
    session.whenEnded.then(() => {
      if (this.#session === session) this.#session = undefined;
    });
    return session;
  }
}
