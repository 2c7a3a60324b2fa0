import { Buffer } from "node:buffer";
import { utf8 } from "../../model/mod.ts";

/** What git tells of an object without its content. */
export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
  readonly size: number;
}

/** One object as git stores it. */
export interface GitObject extends ObjectInfo {
  /** The content; empty where only the size was asked for. */
  readonly data: Uint8Array;
}

/** Splits the output of `git cat-file --batch-command` into answers, whatever the chunks are. */
export class AnswerParser {
  readonly #hasContent: () => boolean;
  #held: Uint8Array[] = [];
  #length = 0;
  #head: ObjectInfo | undefined;

  /** `hasContent` says whether the next answer has the content of its object, or its size alone. */
  constructor(hasContent: () => boolean) {
    this.#hasContent = hasContent;
  }

  /** Takes the next chunk and yields the answers it completed; `undefined` stands for "missing". */
  *push(chunk: Uint8Array): Generator<GitObject | undefined> {
    this.#held.push(chunk);
    this.#length += chunk.length;
    for (;;) {
      // Joining only when the content is complete keeps large objects linear.
      if (this.#head !== undefined && this.#length < this.#head.size + 1) return;
      const bytes = this.#join();
      if (this.#head === undefined) {
        const end = bytes.indexOf(0x0a);
        if (end < 0) return;
        const line = utf8(bytes.subarray(0, end));
        this.#keep(bytes.subarray(end + 1));
        const match = /^([0-9a-f]+) (commit|tree|blob|tag) (\d+)$/.exec(line);
        const [, id = "", type = "", size] = match ?? [];
        if (match === null) yield undefined;
        else if (this.#hasContent()) this.#head = { id, type, size: Number(size) };
        else yield { id, type, size: Number(size), data: new Uint8Array() };
      } else {
        const { size } = this.#head;
        const answer = { ...this.#head, data: new Uint8Array(bytes.subarray(0, size)) };
        this.#keep(bytes.subarray(size + 1));
        this.#head = undefined;
        yield answer;
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
