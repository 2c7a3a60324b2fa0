import { count } from "./count.ts";
import { type FormLimits, KnownTexts } from "./known_texts.ts";
import { authorOf, claimOf, EVERYONE, isAuthors, isRepositorys, partsOf } from "./secret_owners.ts";
import { looksRandom } from "./secret_texts.ts";
import { largestOf, type Part, partOf } from "./sized_parts.ts";

/** Most stacks whose source is remembered; the least recently noted are forgotten first. */
const MOST_STACKS = 100_000;

/** Most sources that are remembered of a stack that no one owns: anybody who may push names it. */
const MOST_CLAIMANTS = 20;

/** Bytes that an owner of words takes. */
const OWNER_COST = 4000;

/** Part of the room that is left free when there is too little. */
const SPARE = 1 / 64;

/** What is known of the program, of sources and of stacks. */
export class KnownSecrets {
  readonly #limits: FormLimits;
  /** What is masked everywhere. */
  readonly #everywhere: KnownTexts;
  readonly #words = new Map<string, KnownTexts>();
  /** Sources whose configurations name each stack, the last one at the end, with those of its files. */
  readonly #sources = new Map<string, ReadonlyMap<string, string>>();
  /** Stacks that more sources name than are remembered. */
  readonly #crowded = new Set<string>();
  /** The one of these that owns the stack, where that is settled. */
  readonly #owners = new Map<string, string>();
  /** Numbers of stacks of the configurations in sources. */
  readonly #stacks = new Map<string, number>();
  /** Numbers of stacks that name each source, as that of their configuration or of their files. */
  readonly #uses = new Map<string, number>();
  /** Owners that had too much, with the sources that their texts come from. */
  readonly #closed = new Map<string, string>();
  #closedSources: ReadonlySet<string> = new Set();
  /** Claims by the stack that they are about. */
  readonly #claims = new Map<string, Set<string>>();
  #size = 0;

  readonly #onClose: (owner: string) => void;

  constructor(limits: FormLimits, onClose: (owner: string) => void) {
    this.#limits = limits;
    this.#onClose = onClose;
    this.#everywhere = new KnownTexts(limits);
  }

  /** Makes the pieces of a text known; see `Redactor.add`. */
  add(pieces: Iterable<string>, owner: string): void {
    if (this.#closed.has(owner)) return;
    const group = this.#groupOf(owner);
    const belonging = { owner, group, author: authorOf(group) };
    for (const piece of pieces) {
      const isWord = isRepositorys(owner) && !looksRandom(piece);
      const forms = { random: true, words: !isRepositorys(owner) };
      const hasWords = !isWord && this.#everywhere.add(piece, belonging, forms);
      if (!isRepositorys(owner) || !(isWord || hasWords)) continue;
      const words = this.#wordsOf(owner);
      const before = words.size;
      words.add(piece, belonging, { random: isWord, words: true });
      this.#size += words.size - before;
    }
    if (this.#total > this.#limits.all) this.#makeRoom();
  }

  get #total(): number {
    return this.#everywhere.size + this.#size;
  }

  /** See `Redactor.forget`. Returns the stack's sources, to be forgotten after it unless others have them. */
  forget(owner: string): readonly string[] {
    if (this.#uses.has(owner)) return [];
    for (const claim of this.#claims.get(owner) ?? []) this.forget(claim);
    const [stack = ""] = partsOf(owner);
    const claims = this.#claims.get(stack);
    if (claims?.delete(owner) && claims.size === 0) this.#claims.delete(stack);
    this.#letGo(owner);
    this.reopen(owner);
    const gone = this.#forgetSources(owner);
    this.#owners.delete(owner);
    this.#crowded.delete(owner);
    return [...new Set([...gone].flat())];
  }

  /** See `Redactor.reopen`. */
  reopen(owner: string): void {
    const all = [owner, ...this.#claims.get(owner) ?? []].filter((each) =>
      this.#closed.delete(each)
    );
    if (all.length > 0) this.#closedSources = new Set(this.#closed.values());
  }

  /** See `Redactor.belongs`. */
  belongs(stack: string, source: string, from?: string, owns = false): void {
    const named = new Map(this.#forgetSources(stack));
    if (owns) this.#owners.set(stack, source);
    const files = from ?? named.get(source) ?? source;
    // The last one is the one that was heard of last.
    named.delete(source);
    named.set(source, files);
    const [first = ""] = named.keys();
    if (named.size > MOST_CLAIMANTS && named.delete(first)) this.#crowded.add(stack);
    this.#noteSources(stack, named);
    const [oldest] = this.#sources.keys();
    if (this.#sources.size <= MOST_STACKS || oldest === undefined) return;
    this.#forgetSources(oldest);
    this.#owners.delete(oldest);
    this.#crowded.delete(oldest);
  }

  #noteSources(stack: string, named: ReadonlyMap<string, string>): void {
    this.#sources.set(stack, named);
    this.#countSources(named, 1);
  }

  /** Returns what was known, the one that was heard of last at the end. */
  #forgetSources(stack: string): ReadonlyMap<string, string> {
    const gone = this.#sources.get(stack) ?? new Map<string, string>();
    this.#sources.delete(stack);
    this.#countSources(gone, -1);
    return gone;
  }

  #countSources(named: ReadonlyMap<string, string>, by: 1 | -1): void {
    for (const [source, files] of named) {
      count(this.#stacks, source, by);
      for (const each of [source, files]) count(this.#uses, each, by);
    }
  }

  /** See `Redactor.settle`. */
  settle(stack: string, source: string, from?: string): void {
    const files = this.#forgetSources(stack).get(source);
    this.#crowded.delete(stack);
    this.belongs(stack, source, from ?? files, true);
    for (const claim of this.#claims.get(stack) ?? []) {
      if (claim !== claimOf(stack, source)) this.forget(claim);
    }
  }

  /** Whether a text about owners cannot be told, since what it may have is not known. */
  isClosed(owners: readonly string[]): boolean {
    const isCrowded = (owner: string) => this.#crowded.has(partsOf(owner)[0] ?? owner);
    if (this.#crowded.size > 0 && owners.some(isCrowded)) return true;
    if (this.#closed.size === 0) return false;
    return owners.some((owner) =>
      owner === EVERYONE || this.#closedSources.has(owner) ||
      this.#partsOfText(owner).some((each) => this.#closed.has(each))
    );
  }

  /** What is masked in a text about owners. */
  about(owners: readonly string[]): readonly KnownTexts[] {
    const all = this.#everywhere.size === 0 ? [] : [this.#everywhere];
    if (this.#words.size === 0) return all;
    if (owners.includes(EVERYONE)) return [...all, ...this.#words.values()];
    for (const owner of owners) {
      for (const each of this.#partsOfText(owner)) {
        const words = this.#words.get(each);
        if (words !== undefined && !all.includes(words)) all.push(words);
      }
    }
    return all;
  }

  /** Owners of what a text about `owner` may have: of a stack all that name it, of a claim its own source. */
  #partsOfText(owner: string): readonly string[] {
    const [stack = owner, claimant] = partsOf(owner);
    const named = [...this.#sources.get(stack) ?? []]
      .filter(([source]) => claimant === undefined || source === claimant);
    const own = claimant === undefined ? [owner] : [owner, claimant];
    return [...own, ...named.flat(), ...this.#claims.get(owner) ?? []];
  }

  #close(owner: string): void {
    // Of a store: a stack has it by now.
    if (!isAuthors(owner)) return void this.#halve(owner);
    this.#closed.set(owner, this.#filesOf(owner));
    this.#closedSources = new Set(this.#closed.values());
    this.#noteClaim(owner);
    this.#letGo(owner);
    this.#onClose(owner);
  }

  #filesOf(owner: string): string {
    const [stack = owner, claimant] = partsOf(owner);
    const source = claimant ?? this.#sourceOf(stack);
    const files = this.#sources.get(stack)?.get(source ?? "") ?? claimant ?? owner;
    // Who deploys from another's repository does not decide what is told of that one's own stacks.
    return this.#stacks.has(files) ? source ?? files : files;
  }

  #halve(owner: string): void {
    this.#everywhere.halve(owner);
    const words = this.#words.get(owner);
    if (words === undefined) return;
    this.#size -= words.size;
    words.halve(owner);
    this.#size += words.size;
    if (words.size === 0) this.forget(owner);
  }

  #noteClaim(owner: string): void {
    const [stack] = partsOf(owner);
    if (stack === undefined) return;
    this.#claims.getOrInsertComputed(stack, () => new Set()).add(owner);
  }

  #letGo(owner: string): void {
    this.#everywhere.forget(owner);
    const words = this.#words.get(owner);
    if (words !== undefined) this.#size -= words.size + OWNER_COST;
    this.#words.delete(owner);
  }

  #wordsOf(owner: string): KnownTexts {
    const before = this.#words.get(owner);
    if (before !== undefined) return before;
    const words = new KnownTexts(this.#limits);
    this.#words.set(owner, words);
    this.#noteClaim(owner);
    this.#size += OWNER_COST;
    return words;
  }

  #groupOf(owner: string): string {
    return partsOf(owner)[1] ?? this.#sourceOf(owner) ?? owner;
  }

  /** The source that owns a stack, or the one that named it last. */
  #sourceOf(stack: string): string | undefined {
    return this.#owners.get(stack) ?? [...this.#sources.get(stack)?.keys() ?? []].at(-1);
  }

  /**
   * Closes the largest owner of the largest source of the author with the most, again and again: one may
   * divide what he has among many sources, and what a source has among many stacks. Makes more room than
   * is needed now: looking at all owners for each text that comes would take seconds.
   */
  #makeRoom(): void {
    const authors = this.#byAuthor();
    while (this.#total > this.#limits.all * (1 - SPARE)) {
      const author = largestOf(authors);
      const source = author && largestOf(author.parts);
      const owner = source && largestOf(source.parts);
      if (author === undefined || source === undefined || owner === undefined) return;
      for (const each of [author, source]) each.size -= owner.size;
      source.parts.delete(owner.name);
      this.#close(owner.name);
    }
  }

  /** Sizes of what is known, by author, source and owner; the program's own are left out, and stay. */
  #byAuthor(): Map<string, Part<Part<Part>>> {
    const authors = new Map<string, Part<Part<Part>>>();
    const words = [...this.#words].map(([owner, { size }]) => ({ owner, size: size + OWNER_COST }));
    for (const { owner, size } of [...this.#everywhere.sizes(), ...words]) {
      const group = this.#groupOf(owner);
      const author = authorOf(group);
      if (author === "") continue;
      const ofAuthor = partOf(authors, author, size);
      partOf(partOf(ofAuthor.parts, group, size).parts, owner, size);
    }
    return authors;
  }
}
