import { Beginnings, type Effort, LONGEST, SHORTEST_SECRET } from "./beginnings.ts";
import { count } from "./count.ts";
import { Endings } from "./endings.ts";
import { usualForms, writtenForms } from "./secret_forms.ts";
import { looksRandom } from "./secret_texts.ts";

/** Most texts that files give one owner, that encrypted ones give it, and that secret stores do. */
export const MOST_OF_AN_OWNER = 5000;
/** Most texts of one owner, with those of earlier releases; the oldest are forgotten first. */
const MOST_KEPT = 4 * MOST_OF_AN_OWNER;
/** Most characters of a piece; longer texts are split into pieces before their forms are made. */
const PIECE = 3 * 2048;
/** Limits on the bytes of memory of all forms; those of a text of quotes have 300 times its length. */
export interface FormLimits {
  /** Of the texts of one group: beyond it they are known in their usual forms alone. */
  readonly group: number;
  /** Of all texts: beyond half of it that goes for authors who have more than a share of that half. */
  readonly all: number;
}

export const FORM_LIMITS: FormLimits = { group: 8_000_000, all: 64_000_000 };
/** Bytes that a part of a form takes besides its characters, as measured in V8. */
const PART_COST = 350;
/** Bytes that a piece takes besides its characters, also when no form of it is looked for. */
const PIECE_COST = 250;
/** Length of the parts of a form that are searched for: it bounds the cost of each place of a text. */
const PART = LONGEST;
/** Parts overlap, so that a cut text never ends in a part too short to be recognised. */
const STEP = PART - 12;
/** Comparisons that a character of a text is worth. */
const EFFORT = 16;

/** Which forms of a text are known: those that look random, and those that are ordinary words. */
interface Forms {
  readonly random: boolean;
  readonly words: boolean;
}

/** Which forms of a piece are known. */
interface Kind extends Forms {
  /** Whether all of them, or the usual ones. */
  readonly all: boolean;
}

/** A piece of a text that is known. */
interface Known extends Kind {
  /** Number of owners that have it. */
  owners: number;
  /** Bytes of it and its forms. */
  readonly size: number;
  readonly hasWords: boolean;
}

interface Owner {
  readonly group: string;
  readonly author: string;
  /** The ones that were added last at the end; with the size that counts for this owner, as it was then. */
  readonly pieces: Map<string, number>;
  /** Bytes of all that were added, as many as owners share. */
  size: number;
}

/** The owner of a text and its group. */
interface Belonging {
  /** Empty for the program itself: its texts are never forgotten. */
  readonly owner: string;
  /** Name of the owners that share one limit. */
  readonly group: string;
  /** Name of those who share what there is, since one may make any number of groups; by default the group. */
  readonly author?: string;
}

/**
 * Texts in all the ways they are written. Each belongs to an owner, is known while one owner has it,
 * and an owner's can be forgotten together.
 */
export class KnownTexts {
  readonly #owners = new Map<string, Owner>();
  readonly #groups = new Map<string, number>();
  readonly #authors = new Map<string, number>();
  readonly #known = new Map<string, Known>();
  readonly #beginnings = new Beginnings();
  readonly #endings = new Endings();
  readonly #limits: FormLimits;
  /** Bytes of all pieces and their forms. */
  #size = 0;

  constructor(limits: FormLimits = FORM_LIMITS) {
    this.#limits = limits;
  }

  /** Bytes that all texts take, with their forms. */
  get size(): number {
    return this.#size + this.#beginnings.bytesOfMarks + this.#endings.bytesOfMarks;
  }

  /** Makes forms of a text known; true when there are words among them, known or not. */
  add(text: string, belonging: Belonging, forms: Forms): boolean {
    const { owner } = belonging;
    const own = this.#ownerOf(belonging);
    const { pieces } = own;
    let hasWords = false;
    for (const piece of piecesOf(text)) {
      const size = pieces.get(piece) ?? this.#use(piece, own, forms);
      if (!pieces.delete(piece)) this.#count(own, size);
      pieces.set(piece, size);
      hasWords ||= this.#known.get(piece)?.hasWords === true;
    }
    if (owner !== "") this.#keepNewest(own, MOST_KEPT);
    return hasWords;
  }

  /** Forgets the texts that only this owner has. */
  forget(owner: string): void {
    const own = this.#owners.get(owner);
    if (own === undefined) return;
    for (const piece of own.pieces.keys()) this.#drop(piece);
    this.#count(own, -own.size);
    this.#owners.delete(owner);
  }

  /** Forgets half of an owner's texts, the oldest ones. */
  halve(owner: string): void {
    const own = this.#owners.get(owner);
    if (own === undefined) return;
    const kept = Math.floor(own.pieces.size / 2);
    this.#keepNewest(own, kept);
    if (kept === 0) this.forget(owner);
  }

  /** Owners with their groups and the bytes of their texts. */
  *sizes(): Iterable<Omit<Belonging, "author"> & { readonly size: number }> {
    for (const [owner, { group, size }] of this.#owners) yield { owner, group, size };
  }

  /** What is masked of the texts: they themselves, and their ends where lines begin. */
  get searched(): readonly Searched[] {
    return [this.#beginnings, this.#endings];
  }

  #ownerOf({ owner, group, author = group }: Belonging): Owner {
    const before = this.#owners.get(owner);
    if (before?.group === group && before.author === author) return before;
    const own = { group, author, pieces: before?.pieces ?? new Map<string, number>(), size: 0 };
    this.#owners.set(owner, own);
    if (before !== undefined) {
      this.#count(own, before.size);
      this.#count(before, -before.size);
    }
    return own;
  }

  #keepNewest(own: Owner, count: number): void {
    for (const [oldest, size] of own.pieces) {
      if (own.pieces.size <= count) break;
      own.pieces.delete(oldest);
      this.#count(own, -size);
      this.#drop(oldest);
    }
  }

  #count(own: Owner, size: number): void {
    own.size += size;
    for (const [sizes, name] of [[this.#groups, own.group], [this.#authors, own.author]] as const) {
      count(sizes, name, size);
    }
  }

  /** Whether a group, or its author, has so many that no more are known in all forms. */
  #hasEnough({ group, author }: Owner): boolean {
    const { group: most, all } = this.#limits;
    if (group === "") return false;
    if ((this.#groups.get(group) ?? 0) > most) return true;
    const share = this.#size > all / 2 ? all / 2 / this.#authors.size : Infinity;
    return (this.#authors.get(author) ?? 0) > share;
  }

  /** Makes a piece known; returns its size. */
  #use(piece: string, own: Owner, { random, words }: Forms): number {
    const before = this.#known.get(piece);
    const kind = {
      all: before?.all === true || !this.#hasEnough(own),
      random: before?.random === true || random,
      words: before?.words === true || words,
    };
    if (before !== undefined && isSame(before, kind)) {
      before.owners++;
      return before.size;
    }
    let size = piece.length + PIECE_COST;
    let hasWords = false;
    for (const { part, isWord, isPlain } of partsOfPiece(piece, kind)) {
      hasWords ||= isWord;
      if (!(isWord ? kind.words : kind.random)) continue;
      size += (part.length + PART_COST) * (isPlain ? 2 : 1);
      this.#beginnings.add(part, isPlain);
      if (isPlain) this.#endings.add(part);
    }
    if (before !== undefined) this.#remove(piece, before);
    this.#known.set(piece, { owners: (before?.owners ?? 0) + 1, size, hasWords, ...kind });
    this.#size += size;
    return size;
  }

  /** Takes a piece from one owner. */
  #drop(piece: string): void {
    const known = this.#known.get(piece);
    if (known === undefined) return;
    known.owners--;
    if (known.owners > 0) return;
    this.#known.delete(piece);
    this.#remove(piece, known);
  }

  #remove(piece: string, known: Known): void {
    for (const { part, isWord, isPlain } of partsOfPiece(piece, known)) {
      if (!(isWord ? known.words : known.random)) continue;
      this.#beginnings.remove(part, isPlain);
      if (isPlain) this.#endings.remove(part);
    }
    this.#size -= known.size;
  }
}

function isSame(a: Kind, b: Kind): boolean {
  return a.all === b.all && a.random === b.random && a.words === b.words;
}

/** What is looked for of a piece, whether it is an ordinary word, and whether it is not encoded. */
function* partsOfPiece(piece: string, { all }: Kind) {
  for (const form of all ? writtenForms(piece) : usualForms(piece)) {
    for (const part of partsOf(form)) {
      yield { part, isWord: !looksRandom(part), isPlain: form === piece };
    }
  }
}

/**
 * Pieces of a text that are about as long as each other: a rest of some characters would be an ordinary
 * word, or too short to be known. Where base64 has a group of its own, and never inside a sign.
 */
export function piecesOf(text: string): string[] {
  const count = Math.ceil(text.length / PIECE);
  if (count < 2) return text === "" ? [] : [text];
  const length = Math.ceil(text.length / count / 3) * 3;
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const isInside = /[\ud800-\udbff]/.test(text[at + length - 1] ?? "");
    const end = isInside ? at + length + 1 : at + length;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** What is looked for of a form: itself, or the parts of a long one. */
export function* partsOf(form: string): Iterable<string> {
  if (form.length <= PART) {
    if (form.length >= SHORTEST_SECRET) yield form;
    return;
  }
  for (let at = 0; at + PART < form.length; at += STEP) yield form.slice(at, at + PART);
  yield form.slice(-PART);
}

/**
 * `text` with everything that one of `known` has replaced by `mask`, also what begins inside another
 * one: secrets may overlap, and no end of one may stay visible. What lies side by side is one.
 */
export function maskKnown(text: string, known: readonly KnownTexts[], mask: string): string {
  if (known.length === 0) return text;
  const all = known.flatMap((each) => each.searched);
  let result = "";
  let shown = 0;
  const effort = { left: EFFORT * (text.length + 1000) };
  const next = all.map((each) => each.next(text, 0, effort));
  for (let at = Math.min(...next); at < Infinity; at = Math.min(...next)) {
    result += text.slice(shown, at) + mask;
    shown = endOfKnown(text, at, all, effort);
    for (const [index, each] of all.entries()) {
      if ((next[index] ?? 0) < shown) next[index] = each.next(text, shown, effort);
    }
  }
  return shown === 0 ? text : result + text.slice(shown);
}

/**
 * Where what begins at a place ends, with all that overlaps it or follows at once. From each end backwards:
 * nothing is longer than {@link PART}, so that most places before it cannot lead further.
 */
function endOfKnown(text: string, at: number, all: readonly Searched[], effort: Effort): number {
  const lengthAt = (place: number) =>
    all.reduce((longest, each) => Math.max(longest, each.lengthAt(text, place, effort)), 0);
  let looked = at;
  let end = at + lengthAt(at);
  for (;;) {
    let furthest = end;
    for (let place = end; place > looked && place + PART > furthest; place--) {
      furthest = Math.max(furthest, place + lengthAt(place));
    }
    if (furthest === end) return end;
    looked = end;
    end = furthest;
  }
}

/** What finds places of a text that are masked. */
type Searched = Pick<Beginnings, "lengthAt" | "next">;
