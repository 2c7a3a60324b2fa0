import { Buffer } from "node:buffer";
import { JsonShape, SIGNS, tooMuch } from "./json_shape.ts";

/** A list in an answer, and what is read of its entries. */
export interface ListShape {
  /** Members of each entry that are read; all others are passed over, however long they are. */
  readonly keep: readonly string[];
  /** Bytes of members that are read, where little of them is held. */
  readonly mostKept?: number;
  /** Member of the answer that is the list; the answer itself where there is none. */
  readonly under?: string;
}

/** How much of one list is looked at. */
const MOST = { bytes: 256 << 20, kept: 64 << 20, entries: 50_000 } as const;
/** Longest name of a member that is compared. */
const LONGEST_NAME = 64;
/** Characters of an answer without a list: no engine says more. */
const MOST_HEAD = 4096;
/** 1 for bytes that mean nothing outside of texts, besides that a value is there. */
const PLAIN = Uint8Array.from(
  { length: 256 },
  (_, byte) => Object.values<number>(SIGNS).includes(byte) ? 0 : 1,
);
const ZERO = new TextEncoder().encode("0");

/**
 * Cuts the list in an answer, as it arrives, into its entries: each is the text of one value, in which 0
 * stands for members that nobody reads. What surrounds the list is passed over.
 */
export class ListEntries {
  readonly #keep: ReadonlySet<string>;
  readonly #under: string | undefined;
  readonly #mostKept: number;
  /** Depth inside the list; infinite until it begins. */
  #inside = Infinity;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The last text that may be a name, as far as names go, and whether it is the one under way. */
  #name = "";
  #isNamed = false;
  /** Whether the next text is the name of a member of an entry. */
  #isNameNext = false;
  /** Whether the member under way is passed over. */
  #isPassed = false;
  readonly #decoder = new TextDecoder();
  #entry: Entry | undefined;
  /** Where what is kept of the bytes at hand begins. */
  #from = 0;
  /** How the answer begins, to be judged where there is no list in it. */
  #head = "";
  #bytes = 0;
  #kept = 0;
  #count = 0;

  constructor({ keep, under, mostKept = MOST.kept }: ListShape) {
    this.#mostKept = mostKept;
    this.#keep = new Set(keep);
    this.#under = under;
  }

  /** The entries that end in the next bytes. Throws `engine_refused` when it is more than is read. */
  *add(bytes: Uint8Array): Generator<string> {
    this.#bytes += bytes.length;
    if (this.#bytes > MOST.bytes) throw tooMuch(`longer than ${MOST.bytes} bytes`);
    this.#from = 0;
    if (this.#inside === Infinity && this.#head.length < MOST_HEAD) {
      this.#head += new TextDecoder().decode(bytes.subarray(0, MOST_HEAD));
    }
    for (let at = 0; at < bytes.length; at++) {
      if (this.#isText) at = this.#throughText(bytes, at);
      // Most bytes that are in no text are of numbers and words inside an entry.
      else if (PLAIN[bytes[at] ?? 0] === 1 && this.#entry !== undefined) continue;
      else if (this.#next(bytes, at, bytes[at] ?? 0)) yield this.#end(bytes, at);
    }
    if (!this.#isPassed) this.#keepUntil(bytes, bytes.length);
  }

  /** After the last bytes. Throws SyntaxError where they are no JSON, or end inside the list. */
  end(): void {
    if (this.#inside === Infinity) JSON.parse(this.#head);
    else if (!Number.isNaN(this.#inside)) throw new SyntaxError("it ends inside a list");
  }

  /** Where the text under way ends, or the bytes do. */
  #throughText(bytes: Uint8Array, from: number): number {
    const { quote, backslash } = SIGNS;
    let at = from;
    let isEscaped = this.#isEscaped;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) {
        this.#isText = false;
        break;
      }
    }
    this.#isEscaped = isEscaped;
    if (this.#isNamed) this.#readName(bytes, from, at);
    return at;
  }

  #readName(bytes: Uint8Array, from: number, end: number): void {
    for (let at = from; at < end && this.#name.length <= LONGEST_NAME; at++) {
      this.#name += String.fromCharCode(bytes[at] ?? 0);
    }
  }

  /** Whether an entry ends before this byte, which is in no text. */
  #next(bytes: Uint8Array, at: number, byte: number): boolean {
    switch (byte) {
      case SIGNS.quote:
        this.#begin(at);
        this.#isText = true;
        this.#isNamed = this.#isNameNext || this.#inside === Infinity;
        if (this.#isNamed) this.#name = "";
        return false;
      case SIGNS.openList:
      case SIGNS.openObject:
        this.#open(at, byte);
        return false;
      case SIGNS.closeList:
      case SIGNS.closeObject:
        return this.#close(bytes, at);
      case SIGNS.comma:
        this.#takeAgain(at);
        return this.#depth === this.#inside && this.#entry !== undefined;
      case SIGNS.colon:
        this.#passOver(bytes, at);
        return false;
      default:
        if (byte > 0x20) this.#begin(at);
        return false;
    }
  }

  #open(at: number, byte: number): void {
    this.#begin(at);
    this.#depth++;
    this.#isNameNext = this.#depth === this.#inside + 1;
    const isHere = this.#under === undefined
      ? this.#depth === 1
      : this.#depth === 2 && this.#name === this.#under;
    if (this.#inside === Infinity && byte === SIGNS.openList && isHere) this.#inside = this.#depth;
  }

  #close(bytes: Uint8Array, at: number): boolean {
    this.#takeAgain(at);
    const isLast = this.#depth === this.#inside;
    this.#depth--;
    if (!isLast) return false;
    const ends = this.#entry !== undefined;
    if (ends) this.#keepUntil(bytes, at);
    // Nothing that follows is of the list: this equals no depth.
    this.#inside = NaN;
    return ends;
  }

  /** An entry begins with the first byte of a value in the list. */
  #begin(at: number): void {
    if (this.#depth !== this.#inside || this.#entry !== undefined) return;
    if (++this.#count > MOST.entries) throw tooMuch(`a list of more than ${MOST.entries} entries`);
    this.#entry = new Entry();
    this.#from = at;
  }

  /** After the colon of a member of an entry. */
  #passOver(bytes: Uint8Array, at: number): void {
    this.#isNameNext = false;
    if (this.#depth !== this.#inside + 1 || this.#isPassed || this.#entry === undefined) return;
    if (this.#keep.has(this.#name)) return;
    this.#keepUntil(bytes, at + 1);
    this.#take(ZERO);
    this.#isPassed = true;
  }

  /** Before what ends a member of an entry. */
  #takeAgain(at: number): void {
    if (this.#depth !== this.#inside + 1) return;
    this.#isNameNext = true;
    if (!this.#isPassed) return;
    this.#isPassed = false;
    this.#from = at;
  }

  #keepUntil(bytes: Uint8Array, end: number): void {
    if (this.#entry !== undefined && end > this.#from) this.#take(bytes.subarray(this.#from, end));
    this.#from = end;
  }

  #take(bytes: Uint8Array): void {
    this.#kept += bytes.length;
    if (this.#kept > this.#mostKept) throw tooMuch(`a list of more than ${this.#mostKept} bytes`);
    this.#entry?.add(bytes);
  }

  #end(bytes: Uint8Array, at: number): string {
    this.#keepUntil(bytes, at);
    const text = this.#decoder.decode(this.#entry?.bytes());
    this.#entry = undefined;
    return text;
  }
}

/** What is kept of one entry. */
class Entry {
  readonly #shape = new JsonShape();
  readonly #pieces: Uint8Array[] = [];

  add(bytes: Uint8Array): void {
    this.#shape.add(bytes);
    this.#pieces.push(bytes);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }
}
