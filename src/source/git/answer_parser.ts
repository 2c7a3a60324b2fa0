import { Buffer } from "node:buffer";
import { utf8 } from "../../model/mod.ts";

/** One object as git stores it. */
export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
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
        const line = utf8(bytes.subarray(0, end));
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
