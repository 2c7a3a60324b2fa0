import { beginsRandom } from "./secret_texts.ts";

/** Length below which a value is not treated as a secret; also the length of the index key of a text. */
export const SHORTEST_SECRET = 4;

/** Most characters of a text that is searched for, and of what is masked from its beginning on. */
export const LONGEST = 64;
/** Least length of a beginning of a secret that is masked, if it is no ordinary word. */
const LONG_BEGINNING = 12;
/** The same at the end of a text, where the rest may have been cut off, and before an ellipsis. */
export const CUT_BEGINNING = 8;

/** Number of marks for a few texts, and for any number of them; there are so many for each beginning. */
const FEWEST_MARKS = 1024;
const MOST_MARKS = 1024 ** 2 * 4;
const SPARE_MARKS = 32;

/** Branches that are compared one by one; more are kept in a map. */
const MOST_COMPARED = 8;

/**
 * Budget of comparisons for a text. It runs out on texts that repeat beginnings of secrets over and over:
 * then any beginning of {@link LONG_BEGINNING} characters is masked, even an ordinary word.
 */
export interface Effort {
  left: number;
}

/** Node of a radix tree: a place where texts diverge, or where one ends. */
class Branch {
  /** Characters between the parent branch and this one. */
  label: string;
  /** First character code of the label. */
  code: number;
  /** How often the text that ends here was added. */
  count: number;
  /** Texts from here on whose beginnings count as well. */
  plain = 0;
  /** Child branches; a map by first character when there are many. */
  next: Branch[] | Map<number, Branch> | undefined = undefined;
  /** Cached length from which beginnings of the text up to here look random. */
  random: number | undefined = undefined;

  constructor(label: string, count: number) {
    this.label = label;
    this.code = label.charCodeAt(0);
    this.count = count;
  }

  /** The child branch that starts with a character. */
  after(code: number): Branch | undefined {
    const { next } = this;
    if (next === undefined) return undefined;
    if (next instanceof Map) return next.get(code);
    for (let index = 0; index < next.length; index++) {
      if (next[index]?.code === code) return next[index];
    }
    return undefined;
  }

  add(end: Branch): void {
    const { next } = this;
    if (next === undefined) this.next = [end];
    else if (next instanceof Map) next.set(end.code, end);
    else if (next.length < MOST_COMPARED) next.push(end);
    else this.next = new Map([...next, end].map((each) => [each.code, each]));
  }

  delete(end: Branch): void {
    const { next } = this;
    if (next instanceof Map) next.delete(end.code);
    else next?.splice(next.indexOf(end), 1);
  }

  /** Splits the label after so many characters. */
  split(length: number): void {
    const rest = new Branch(this.label.slice(length), this.count);
    rest.next = this.next;
    rest.plain = this.plain;
    rest.random = this.random;
    this.label = this.label.slice(0, length);
    this.count = 0;
    this.next = [rest];
    this.random = undefined;
  }

  /** Merges the only child branch into this one. */
  join(only: Branch): void {
    this.label += only.label;
    this.code = this.label.charCodeAt(0);
    this.count = only.count;
    this.next = only.next;
    this.random = only.random;
  }
}

/**
 * A radix tree of texts: common beginnings are compared once, so that searching for all texts costs no
 * more than searching for one.
 *
 * What is masked tells who may choose the text whether a guess was right. So a text counts as a whole,
 * of plain ones also a beginning too long to be guessed, and from such a beginning on all of the word is
 * masked: else each further character could be guessed by itself, in an encoding from the first one on.
 */
export class Beginnings {
  readonly #roots = new Map<string, Branch>();
  /** Marks of the beginnings, a bit each, so that hardly any place of a text needs to be looked up. */
  #marks = new Uint8Array(FEWEST_MARKS / 8);

  /** Bytes that the marks take beyond the fewest. */
  get bytesOfMarks(): number {
    return this.#marks.length - FEWEST_MARKS / 8;
  }

  /** Adds a text of four to {@link LONGEST} characters, counting repetitions, also as plain beginnings. */
  add(text: string, isPlain: boolean): void {
    const beginning = text.slice(0, SHORTEST_SECRET);
    const root = this.#roots.get(beginning);
    if (root !== undefined) return void endOf(root, text, isPlain).count++;
    const only = new Branch(text.slice(SHORTEST_SECRET), 1);
    if (isPlain) only.plain++;
    this.#roots.set(beginning, only);
    const count = this.#marks.length * 8;
    const isFull = this.#roots.size * SPARE_MARKS > count && count < MOST_MARKS;
    if (!isFull) return this.#mark(beginning);
    this.#marks = new Uint8Array(count / 8 * 4);
    for (const each of this.#roots.keys()) this.#mark(each);
  }

  /** Takes back one addition of a text; `isPlain` as it was. */
  remove(text: string, isPlain: boolean): void {
    const beginning = text.slice(0, SHORTEST_SECRET);
    const root = this.#roots.get(beginning);
    if (root === undefined) return;
    if (!isLeft(root, text, SHORTEST_SECRET, isPlain)) return;
    this.#roots.delete(beginning);
    if (this.#roots.size === 0) this.#marks = new Uint8Array(FEWEST_MARKS / 8);
  }

  /** The next place of a text from one on where one of these begins, whole or cut off; else infinite. */
  next(text: string, from: number, effort: Effort): number {
    let hash = numberOf(text, from);
    for (let at = from; at + SHORTEST_SECRET <= text.length;) {
      if (this.#isMarked(hash) && this.#lengthAt(text, at, effort) > 0) return at;
      at++;
      hash = (hash << 8) ^ text.charCodeAt(at + SHORTEST_SECRET - 1);
    }
    return Infinity;
  }

  /** Length of the longest text that begins at a place of another, whole or cut off; 0 when none does. */
  lengthAt(text: string, at: number, effort: Effort): number {
    return this.#isMarked(numberOf(text, at)) ? this.#lengthAt(text, at, effort) : 0;
  }

  #lengthAt(text: string, at: number, effort: Effort): number {
    let branch = this.#roots.get(text.slice(at, at + SHORTEST_SECRET));
    if (branch === undefined) return 0;
    let place = at + SHORTEST_SECRET;
    let common = commonLength(branch.label, text, place, 0);
    let whole = 0;
    let cut: Cut | undefined;
    for (;;) {
      place += common;
      if (branch.plain > 0) cut = { branch, common, length: place - at };
      if (common < branch.label.length) break;
      if (branch.count > 0) whole = place - at;
      const next: Branch | undefined = branch.after(text.charCodeAt(place));
      if (next === undefined) break;
      branch = next;
      common = commonLength(branch.label, text, place, 1);
    }
    effort.left -= place - at;
    if (cut === undefined || cut.length <= whole || cut.length < CUT_BEGINNING) return whole;
    return lengthOfCut(cut, text, at, effort) ?? whole;
  }

  #isMarked(number: number): boolean {
    const mark = spread(number);
    const eight = this.#marks[(mark >> 3) & (this.#marks.length - 1)] ?? 0;
    return (eight >> (mark & 7) & 1) === 1;
  }

  #mark(beginning: string): void {
    const mark = spread(numberOf(beginning, 0));
    const at = (mark >> 3) & (this.#marks.length - 1);
    this.#marks[at] = (this.#marks[at] ?? 0) | 1 << (mark & 7);
  }
}

/** A number for the four characters from a place on, into which each next one can be shifted. */
function numberOf(text: string, at: number): number {
  let number = 0;
  for (let index = at; index < at + SHORTEST_SECRET; index++) {
    number = (number << 8) ^ text.charCodeAt(index);
  }
  return number;
}

/** The mark for a number. */
function spread(number: number): number {
  return Math.imul(number, 0x9e3779b1) >>> 10;
}

/** The branch where a text ends; makes it, with count 0, when there is none. */
function endOf(root: Branch, text: string, isPlain: boolean): Branch {
  let branch = root;
  let at = SHORTEST_SECRET;
  for (;;) {
    const common = commonLength(branch.label, text, at, 0);
    if (common < branch.label.length) branch.split(common);
    if (isPlain) branch.plain++;
    at += common;
    if (at === text.length) return branch;
    const code = text.charCodeAt(at);
    const next = branch.after(code);
    if (next === undefined) {
      const end = new Branch(text.slice(at), 0);
      if (isPlain) end.plain++;
      branch.add(end);
      return end;
    }
    branch = next;
  }
}

/** Removes a text below a branch; true when the branch is empty afterwards. */
function isLeft(branch: Branch, text: string, at: number, isPlain: boolean): boolean {
  const end = at + branch.label.length;
  if (isPlain) branch.plain--;
  if (end === text.length) branch.count--;
  else {
    const code = text.charCodeAt(end);
    const next = branch.after(code);
    if (next !== undefined && isLeft(next, text, end, isPlain)) branch.delete(next);
  }
  if (branch.count > 0) return false;
  const [only, other] = branch.next?.values() ?? [];
  if (only === undefined) return true;
  if (other === undefined) branch.join(only);
  return false;
}

/** Length of the common part of a label and a text from a place on; `known` characters are equal. */
function commonLength(label: string, text: string, at: number, known: number): number {
  const most = Math.min(label.length, text.length - at);
  let length = known;
  while (length < most && label.charCodeAt(length) === text.charCodeAt(at + length)) length++;
  return length;
}

/** The longest common beginning of a place of a text and of plain texts. */
interface Cut {
  /** Where it ends, after so many characters of that branch. */
  readonly branch: Branch;
  readonly common: number;
  readonly length: number;
}

/** Length of what is masked from a beginning on; `undefined` if that does not count. */
function lengthOfCut({ branch, common, length }: Cut, text: string, at: number, effort: Effort) {
  const place = at + length;
  const end = endOfWord(text, place, at + LONGEST);
  if (text[end] === "…") return end - at;
  if (length < (end === text.length ? CUT_BEGINNING : LONG_BEGINNING)) return undefined;
  if (effort.left < 0) return length < LONG_BEGINNING ? undefined : end - at;
  branch.random ??= beginsRandom(text.slice(at, place) + branch.label.slice(common));
  return length < branch.random ? undefined : end - at;
}

/** Where the word around a place of a text ends, by a blank or a quote; at `most` at the latest. */
function endOfWord(text: string, place: number, most: number): number {
  const length = text.slice(place, most).search(/[\s…"'`]/);
  return length < 0 ? Math.min(most, text.length) : place + length;
}
