import { SIGNS } from "./json_shape.ts";
import { KeptBytes, type ListEntry } from "./kept_bytes.ts";
import { type Members, MOST_TEXT, type Part } from "./kept_parts.ts";

/** The place of a list in an answer, and the members of its entries to read. */
export interface ListShape {
  readonly keep: Members;
  /** Member of the answer that holds the list; by default the answer itself. */
  readonly under?: string;
}

/** Bytes of a member's name; a member with a longer one is skipped. */
const LONGEST_NAME = 8192;
/** Characters of an answer without a list, beyond what any engine sends. */
const MOST_HEAD = 4096;
/** 1 for bytes without a meaning outside of texts. */
const PLAIN = Uint8Array.from(
  { length: 256 },
  (_, byte) => Object.values<number>(SIGNS).includes(byte) ? 0 : 1,
);
const { quote: QUOTE, backslash: BACKSLASH } = SIGNS;

/** An object that is read in part, or a list of such objects. */
interface Level {
  readonly members: Members;
  readonly isList: boolean;
  /** Length of the kept bytes before it. */
  readonly mark: number;
  kept: number;
  hasMust: boolean;
}

/**
 * Splits the list in an answer, as it arrives, into its entries, and keeps of each only the members to
 * read. All else is skipped while it streams past: authors decide how long it is.
 */
export class ListEntries {
  readonly #keep: Members;
  readonly #under: string | undefined;
  #place: "before" | "in" | "after" = "before";
  /** Depth before the list, and below the current value in it. */
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** Whether the current text is a name, and whether the next one is. */
  #isNamed = false;
  #isNameNext = false;
  #name = "";
  /** Start of the answer, for an error if it has no list. */
  #head = "";
  #isInEntry = false;
  readonly #levels: Level[] = [];
  /** Part that the next value is, and the current one if it has no levels. */
  #next: Part | "skipped" = "skipped";
  #value: "short" | "whole" | "skipped" | undefined;
  /** Start of the bytes of the current value in the current chunk. */
  #from = 0;
  #textMark = 0;
  #isCut = false;
  readonly #kept = new KeptBytes();

  constructor({ keep, under }: ListShape) {
    this.#keep = keep;
    this.#under = under;
  }

  /** The entries that end in the next bytes. */
  *add(bytes: Uint8Array): Generator<ListEntry> {
    this.#from = 0;
    if (this.#place === "before" && this.#head.length < MOST_HEAD) {
      this.#head += new TextDecoder().decode(bytes.subarray(0, MOST_HEAD));
    }
    for (let at = 0; at < bytes.length; at++) {
      if (this.#isText) at = this.#throughText(bytes, at);
      // Most bytes outside of texts belong to numbers and words.
      else if (this.#value !== undefined && PLAIN[bytes[at] ?? 0] === 1) continue;
      else if (this.#step(bytes, at, bytes[at] ?? 0)) yield this.#end();
    }
    this.#flush(bytes, bytes.length);
  }

  /** Checks the end. Throws SyntaxError for bytes that are not JSON, or end inside the list. */
  end(): void {
    if (this.#place === "before") JSON.parse(this.#head);
    else if (this.#place === "in") throw new SyntaxError("it ends inside a list");
  }

  /** Index at which the current text ends, or the bytes do. */
  #throughText(bytes: Uint8Array, from: number): number {
    for (let at = from;;) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? bytes.length : quote;
      let start = end;
      while (start > at && bytes[start - 1] === BACKSLASH) start--;
      const before = start === from && this.#isEscaped ? 1 : 0;
      const isEscaped = (before + end - start) % 2 === 1;
      at = end + 1;
      if (quote !== -1 && isEscaped) continue;
      this.#isEscaped = isEscaped;
      this.#isText = quote === -1;
      if (this.#isNamed) this.#readName(bytes, from, end);
      else this.#cut(bytes, end);
      return end;
    }
  }

  #readName(bytes: Uint8Array, from: number, end: number): void {
    for (let at = from; at < end && this.#name.length <= LONGEST_NAME; at++) {
      this.#name += String.fromCharCode(bytes[at] ?? 0);
    }
  }

  /** Takes back a text that is too long, as soon as it is; the rest of it is skipped. */
  #cut(bytes: Uint8Array, end: number): void {
    if (this.#value !== "short") return;
    const length = this.#kept.length - this.#textMark + end - this.#from;
    if (!this.#isCut && length > MOST_TEXT) {
      this.#isCut = true;
      this.#kept.cutTo(this.#textMark);
      this.#kept.addText("false");
    }
    if (!this.#isCut || this.#isText) return;
    this.#isCut = false;
    this.#from = Math.min(end + 1, bytes.length);
  }

  /** Whether an entry ends before this byte, which is outside of texts. */
  #step(bytes: Uint8Array, at: number, byte: number): boolean {
    if (this.#place !== "in") return this.#seek(byte);
    const { comma, colon, openList, openObject, closeList, closeObject } = SIGNS;
    if (byte === QUOTE) return this.#beginText(bytes, at);
    const opens = byte === openList || byte === openObject;
    const closes = byte === closeList || byte === closeObject;
    if (this.#value !== undefined) {
      if (opens) this.#depth++;
      else if (closes && this.#depth > 0) this.#depth--;
      else if (closes || (byte === comma && this.#depth === 0)) this.#endValue(bytes, at);
      if (this.#value !== undefined) return false;
    } else if (opens) return this.#open(bytes, at, byte);
    if (closes) return this.#close(byte);
    if (byte === comma) return this.#comma();
    if (byte === colon) this.#choose();
    else if (byte > 0x20) this.#begin(at);
    return false;
  }

  /** Looks for the list. */
  #seek(byte: number): false {
    if (this.#place === "after") return false;
    const { openList, openObject, closeList, closeObject } = SIGNS;
    if (byte === QUOTE) [this.#isText, this.#isNamed, this.#name] = [true, true, ""];
    else if (byte === closeList || byte === closeObject) this.#depth--;
    if (byte !== openList && byte !== openObject) return false;
    this.#depth++;
    const isHere = this.#under === undefined
      ? this.#depth === 1
      : this.#depth === 2 && this.#name === this.#under;
    if (!isHere || byte !== openList) return false;
    [this.#place, this.#depth, this.#isNamed] = ["in", 0, false];
    this.#next = this.#keep;
    return false;
  }

  #beginText(bytes: Uint8Array, at: number): false {
    this.#isNamed = this.#value === undefined && this.#isNameNext;
    if (this.#isNamed) this.#name = "";
    else if (this.#value === undefined) this.#begin(at);
    this.#isText = true;
    if (this.#value !== "short") return false;
    this.#flush(bytes, at);
    this.#textMark = this.#kept.length;
    return false;
  }

  /** Chooses the part that the value after a name is. */
  #choose(): void {
    const level = this.#levels.at(-1);
    if (level === undefined || level.isList) return;
    this.#isNameNext = false;
    this.#next = this.#name.length > LONGEST_NAME
      ? "skipped"
      : level.members.of(this.#name) ?? "skipped";
    if (this.#name === level.members.must) level.hasMust = true;
  }

  #beginEntry(): void {
    if (this.#isInEntry) return;
    this.#isInEntry = true;
    this.#kept.clear();
  }

  /** Begins a value without levels. */
  #begin(at: number): void {
    this.#beginEntry();
    this.#value = typeof this.#next === "string" ? this.#next : "short";
    if (this.#value !== "skipped") this.#introduce();
    [this.#depth, this.#from] = [0, at];
  }

  /** Writes what stands before a kept value. */
  #introduce(): void {
    const level = this.#levels.at(-1);
    if (level === undefined) return;
    if (level.kept++ > 0) this.#kept.addText(",");
    if (!level.isList) this.#kept.addText(`"${this.#name}":`);
  }

  #open(bytes: Uint8Array, at: number, byte: number): false {
    const part = this.#next;
    if (typeof part === "string") {
      this.#begin(at);
      this.#depth = 1;
      return false;
    }
    this.#beginEntry();
    const mark = this.#kept.length;
    this.#introduce();
    this.#kept.add(bytes, at, at + 1);
    const isList = byte === SIGNS.openList;
    this.#levels.push({ members: part, isList, mark, kept: 0, hasMust: false });
    this.#isNameNext = !isList;
    return false;
  }

  #close(byte: number): boolean {
    const level = this.#levels.pop();
    if (level === undefined) {
      this.#place = "after";
      return this.#isInEntry;
    }
    this.#isNameNext = false;
    this.#kept.addText(byte === SIGNS.closeList ? "]" : "}");
    if (level.isList || level.members.must === undefined || level.hasMust) return false;
    this.#kept.cutTo(level.mark);
    const outer = this.#levels.at(-1);
    if (outer !== undefined) outer.kept--;
    return false;
  }

  #comma(): boolean {
    const level = this.#levels.at(-1);
    this.#isNameNext = level !== undefined && !level.isList;
    this.#next = level?.members ?? this.#keep;
    return level === undefined && this.#isInEntry;
  }

  #endValue(bytes: Uint8Array, at: number): void {
    this.#flush(bytes, at);
    this.#value = undefined;
  }

  #flush(bytes: Uint8Array, end: number): void {
    const keeps = this.#value === "short" || this.#value === "whole";
    if (keeps && !this.#isCut && end > this.#from) this.#kept.add(bytes, this.#from, end);
    this.#from = end;
  }

  #end(): ListEntry {
    this.#isInEntry = false;
    return this.#kept.entry();
  }
}
