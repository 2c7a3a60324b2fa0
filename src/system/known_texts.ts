import { usualForms, writtenForms } from "./secret_forms.ts";
import { looksRandom } from "./secret_texts.ts";

/** Length below which a value is not treated as a secret text. */
export const SHORTEST_SECRET = 4;

/** Texts that are known of one owner; the oldest are forgotten first. */
export const MOST_OF_AN_OWNER = 5000;
/** Owners whose texts are known; those that were not heard of for longest are forgotten first. */
const MOST_OWNERS = 1000;
/** Characters of one text that are looked for at a time; a longer one is known piece by piece. */
const PIECE = 3 * 2048;
/** Characters of the forms of texts; a text of nothing but quotes has 300 times as many as it has itself. */
export interface FormLimits {
  /** Of an owner's texts: beyond it they are known in their usual forms alone. */
  readonly owner: number;
  /** The same for the texts of all; beyond twice as many, whoever has the most is forgotten. */
  readonly all: number;
}

export const FORM_LIMITS: FormLimits = { owner: 8_000_000, all: 64_000_000 };
/** Cost of a form besides its characters, in characters. */
const FORM_COST = 200;
/** Comparisons that a character of a text is worth before the rest of the text is masked unseen. */
const EFFORT = 100;
/** Comparisons that any text is worth: a model of some megabytes would take seconds otherwise. */
const MOST_EFFORT = 10_000_000;

/** A piece of a text that is known. */
interface Known {
  /** Number of owners that have it. */
  owners: number;
  readonly formsOf: (text: string) => Set<string>;
  /** Characters of its forms, with what they cost besides. */
  readonly size: number;
}

interface Owner {
  /** The ones that were added last at the end. */
  readonly pieces: Set<string>;
  /** Characters of the forms of all that were added, as many as owners share. */
  size: number;
}

/**
 * Texts by how they begin, so that looking for all of them costs no more than looking for a few:
 * every deployment adds some, and every line of the log is searched. Each belongs to an owner, is known
 * while one owner has it, and an owner's can be forgotten together.
 */
export class KnownTexts {
  /** The ones that were heard of last at the end. */
  readonly #owners = new Map<string, Owner>();
  readonly #known = new Map<string, Known>();
  /** Characters of the forms of all pieces. */
  #size = 0;
  /** Forms by beginning, with the number of pieces that are written so. */
  readonly #byBeginning = new Map<string, Map<string, number>>();
  /** Marks of the beginnings, so that hardly any place of a text needs to be looked up. */
  readonly #marks: Uint8Array;

  readonly #limits: FormLimits;

  /** Texts that are told apart by so many `bits` of their beginnings before they are looked up. */
  constructor(bits = 16, limits: FormLimits = FORM_LIMITS) {
    this.#limits = limits;
    this.#marks = new Uint8Array(1 << bits);
  }

  /** Characters of the forms of all texts, with what they cost besides. */
  get size(): number {
    return this.#size;
  }

  /** Makes a text known in all its {@link writtenForms}. */
  add(text: string, owner: string): void {
    const own = this.#owners.get(owner) ?? { pieces: new Set(), size: 0 };
    const { pieces } = own;
    // The last one is the one that was heard of last.
    this.#owners.delete(owner);
    this.#owners.set(owner, own);
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = text.slice(at, at + PIECE);
      if (!pieces.delete(piece)) own.size += this.#use(piece, owner, own.size);
      pieces.add(piece);
    }
    // The program's own, which are never forgotten, have an owner without a name.
    for (const oldest of owner === "" ? [] : pieces) {
      if (pieces.size <= MOST_OF_AN_OWNER) break;
      pieces.delete(oldest);
      own.size -= this.#drop(oldest);
    }
    for (const oldest of this.#owners.keys()) {
      if (this.#owners.size <= MOST_OWNERS) break;
      if (oldest !== "") this.forget(oldest);
    }
    const most = this.#size > 2 * this.#limits.all ? largest(this.#owners) : undefined;
    if (most !== undefined) this.forget(most);
  }

  /** Forgets the texts that only this owner has. */
  forget(owner: string): void {
    for (const piece of this.#owners.get(owner)?.pieces ?? []) this.#drop(piece);
    this.#owners.delete(owner);
  }

  /** Makes a piece known; returns its size. */
  #use(piece: string, owner: string, sizeOfOwner: number): number {
    const before = this.#known.get(piece);
    if (before !== undefined) {
      before.owners++;
      return before.size;
    }
    const isTooMuch = sizeOfOwner > this.#limits.owner || this.#size > this.#limits.all;
    const formsOf = isTooMuch && owner !== "" ? usualForms : writtenForms;
    let size = 0;
    for (const form of formsOf(piece)) {
      if (form.length < SHORTEST_SECRET) continue;
      size += form.length + FORM_COST;
      const beginning = form.slice(0, SHORTEST_SECRET);
      const forms = this.#byBeginning.get(beginning) ?? new Map<string, number>();
      forms.set(form, (forms.get(form) ?? 0) + 1);
      this.#byBeginning.set(beginning, forms);
      this.#marks[this.#markAt(form, 0)] = 1;
    }
    this.#known.set(piece, { owners: 1, formsOf, size });
    this.#size += size;
    return size;
  }

  /** Takes a piece from one owner; returns its size. */
  #drop(piece: string): number {
    const known = this.#known.get(piece);
    if (known === undefined) return 0;
    const { formsOf, size } = known;
    known.owners--;
    if (known.owners > 0) return size;
    this.#known.delete(piece);
    this.#size -= size;
    for (const form of formsOf(piece)) {
      const beginning = form.slice(0, SHORTEST_SECRET);
      const forms = this.#byBeginning.get(beginning);
      const count = (forms?.get(form) ?? 1) - 1;
      if (count > 0) forms?.set(form, count);
      else forms?.delete(form);
      if (forms?.size === 0) this.#byBeginning.delete(beginning);
    }
    return size;
  }

  /**
   * `text` with every known one replaced by `mask`, also those that begin inside another one: secrets
   * may overlap, and no end of one may stay visible. A text that takes too long (nothing but
   * beginnings of secrets) is masked from there on.
   */
  mask(text: string, mask: string): string {
    if (this.#known.size === 0) return text;
    let result = "";
    let shown = 0;
    const effort = { left: Math.min(EFFORT * (text.length + 1000), MOST_EFFORT) };
    const last = text.length - SHORTEST_SECRET;
    for (let at = 0; at <= last; at++) {
      if (this.#marks[this.#markAt(text, at)] !== 1) continue;
      const length = this.#longestAt(text, at, effort);
      if (effort.left < 0) return (at > shown ? result + text.slice(shown, at) : result) + mask;
      if (length === 0) continue;
      if (at >= shown) result += text.slice(shown, at) + mask;
      shown = Math.max(shown, at + length);
    }
    return result + text.slice(shown);
  }

  /** Length of the longest known text that begins at a place, whole or cut off; 0 when none does. */
  #longestAt(text: string, at: number, effort: { left: number }): number {
    const candidates = this.#byBeginning.get(text.slice(at, at + SHORTEST_SECRET))?.keys() ?? [];
    let longest = 0;
    for (const each of candidates) {
      const common = commonLength(each, text, at);
      effort.left -= common;
      if (effort.left < 0) return 0;
      const length = common === each.length ? common : cutLength(each, text, at, common);
      longest = Math.max(longest, length);
    }
    return longest;
  }

  /** A number for the four characters from a place on. */
  #markAt(text: string, at: number): number {
    const first = text.charCodeAt(at) * 31 + text.charCodeAt(at + 1);
    const all = first * 961 + text.charCodeAt(at + 2) * 31 + text.charCodeAt(at + 3);
    return all & (this.#marks.length - 1);
  }
}

/** The name of the largest; never the empty one, which is the program's own. */
export function largest(
  named: Iterable<readonly [string, { readonly size: number }]>,
): string | undefined {
  let found: string | undefined;
  let most = 0;
  for (const [name, { size }] of named) {
    if (name !== "" && size > most) [found, most] = [name, size];
  }
  return found;
}

function commonLength(form: string, text: string, at: number): number {
  let length = SHORTEST_SECRET;
  while (length < form.length && form.charCodeAt(length) === text.charCodeAt(at + length)) length++;
  return length;
}

/** Length from which the beginning of a secret is masked, if it is no ordinary word. */
const LONG_BEGINNING = 12;
/** The same at the end of a text, where the rest may have been cut off. */
const LAST_BEGINNING = 8;
/** The same where it is plain that the rest was cut off. */
const CUT_BEGINNING = 6;

/** Length of the beginning of `secret` at a place of a text that somebody shortened. */
function cutLength(secret: string, text: string, at: number, length: number): number {
  if (text[at + length] === "…") return length >= CUT_BEGINNING ? length : 0;
  const least = at + length === text.length ? LAST_BEGINNING : LONG_BEGINNING;
  return length >= least && looksRandom(secret.slice(0, length)) ? length : 0;
}
