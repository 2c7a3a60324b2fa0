import { Buffer } from "node:buffer";
import { JsonShape, SIGNS, tooMuch } from "./json_shape.ts";

/** The place of a list in an answer, and the members of its entries to read. */
export interface ListShape {
  /** Members of each entry to read; all others are skipped, whatever their length. */
  readonly keep: readonly string[];
  /** Limit in bytes for the members that are read; for lists of which little is kept in memory. */
  readonly mostKept?: number;
  /** Member of the answer that holds the list; by default the answer itself. */
  readonly under?: string;
}

/**
 * Limits for one list. Short values take twenty times their bytes; as many as these do not fit into
 * the list that deployments may leave behind, see `requireShortList`.
 */
const MOST = { bytes: 256 << 20, kept: 64 << 20, entries: 50_000, values: 8_000_000 } as const;
/** Bytes of memory for a value, besides its text. */
const OF_VALUE = 32;
/** Characters of a member's name that are compared. */
const LONGEST_NAME = 64;
/** Characters of an answer without a list, beyond what any engine sends. */
const MOST_HEAD = 4096;
/** 1 for bytes without a meaning outside of texts. */
const PLAIN = Uint8Array.from(
  { length: 256 },
  (_, byte) => Object.values<number>(SIGNS).includes(byte) ? 0 : 1,
);
const ZERO = new TextEncoder().encode("0");

/**
 * Splits the list in an answer, as it arrives, into its entries: each is the JSON text of one
 * value, with 0 in place of skipped members. Everything around the list is skipped.
 */
export class ListEntries {
  readonly #keep: ReadonlySet<string>;
  readonly #under: string | undefined;
  readonly #mostKept: number;
  /** Depth inside the list; infinite before it, NaN after it. */
  #inside = Infinity;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The last text that may be a name, up to a limit, and whether the current text is one. */
  #name = "";
  #isNamed = false;
  /** Whether the next text is a member's name in an entry. */
  #isNameNext = false;
  /** Whether the current member is skipped. */
  #isPassed = false;
  readonly #decoder = new TextDecoder();
  #entry: Entry | undefined;
  /** Start of the bytes to keep in the current chunk. */
  #from = 0;
  /** Start of the answer, for an error if it has no list. */
  #head = "";
  #bytes = 0;
  #kept = 0;
  #count = 0;
  #values = 0;
  #lastValues = 0;

  constructor({ keep, under, mostKept = MOST.kept }: ListShape) {
    this.#mostKept = mostKept;
    this.#keep = new Set(keep);
    this.#under = under;
  }

  /** Bytes of memory, roughly, that the entries so far take once they are parsed. */
  get memory(): number {
    return this.#kept + this.#values * OF_VALUE;
  }

  /** Values in the last entry; those in objects count twice. */
  get lastValues(): number {
    return this.#lastValues;
  }

  /** The entries that end in the next bytes. Throws `engine_refused` when a limit is exceeded. */
  *add(bytes: Uint8Array): Generator<string> {
    this.#bytes += bytes.length;
    if (this.#bytes > MOST.bytes) throw tooMuch(`longer than ${MOST.bytes} bytes`);
    this.#from = 0;
    if (this.#inside === Infinity && this.#head.length < MOST_HEAD) {
      this.#head += new TextDecoder().decode(bytes.subarray(0, MOST_HEAD));
    }
    for (let at = 0; at < bytes.length; at++) {
      if (this.#isText) at = this.#throughText(bytes, at);
      // Most bytes outside of texts belong to numbers and words inside an entry.
      else if (PLAIN[bytes[at] ?? 0] === 1 && this.#entry !== undefined) continue;
      else if (this.#next(bytes, at, bytes[at] ?? 0)) yield this.#end(bytes, at);
    }
    if (!this.#isPassed) this.#keepUntil(bytes, bytes.length);
  }

  /** Checks the end. Throws SyntaxError for bytes that are not JSON, or end inside the list. */
  end(): void {
    if (this.#inside === Infinity) JSON.parse(this.#head);
    else if (!Number.isNaN(this.#inside)) throw new SyntaxError("it ends inside a list");
  }

  /** Index at which the current text ends, or the bytes do. */
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

  /** Whether an entry ends before this byte, which is outside of texts. */
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
    // Equal to no depth: the list is over.
    this.#inside = NaN;
    return ends;
  }

  /** Begins an entry at the first byte of a value in the list. */
  #begin(at: number): void {
    if (this.#depth !== this.#inside || this.#entry !== undefined) return;
    if (++this.#count > MOST.entries) throw tooMuch(`a list of more than ${MOST.entries} entries`);
    this.#entry = new Entry();
    this.#from = at;
  }

  /** Skips a member after its colon, unless it is to be read. */
  #passOver(bytes: Uint8Array, at: number): void {
    this.#isNameNext = false;
    if (this.#depth !== this.#inside + 1 || this.#isPassed || this.#entry === undefined) return;
    if (this.#keep.has(this.#name)) return;
    this.#keepUntil(bytes, at + 1);
    this.#take(ZERO);
    this.#isPassed = true;
  }

  /** Ends a skipped member before the byte that follows it. */
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
    this.#lastValues = this.#entry?.shape.values ?? 0;
    this.#values += this.#lastValues;
    if (this.#values > MOST.values) throw tooMuch(`a list of more than ${MOST.values} values`);
    this.#entry = undefined;
    return text;
  }
}

/** The kept bytes of one entry. */
class Entry {
  readonly shape = new JsonShape();
  readonly #pieces: Uint8Array[] = [];

  add(bytes: Uint8Array): void {
    this.shape.add(bytes);
    this.#pieces.push(bytes);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }
}
