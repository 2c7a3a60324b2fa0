import type { StackKey } from "../model/mod.ts";
import { AskedStacks } from "./asked_stacks.ts";
import { FORM_LIMITS, type FormLimits, KnownTexts, maskKnown } from "./known_texts.ts";
import { endOf, isDottedPart, nameBefore } from "./named_values.ts";
import { authorOf, claimOf, EVERYONE, isRepositorys, partsOf } from "./secret_owners.ts";
import { looksRandom, soundsSecret, worthHiding } from "./secret_texts.ts";
import { maskUserInformation } from "./user_information.ts";

/**
 * Keeps secrets out of all output: logs, errors, runs and responses. Values are added when they become
 * known; those of a repository belong to its deployment, and are bounded and forgotten with it.
 */
export interface Redactor {
  /**
   * Makes `value`, each of its lines, and all {@link writtenForms} of them unprintable. Values shorter
   * than {@link SHORTEST_SECRET} are ignored: replacing them would blank out ordinary words. May be
   * called again with the same value. `owner` is what the value belongs to; those of the program itself
   * have none, and are never forgotten. Ordinary words of a stack or source are masked in texts about it
   * alone: nobody decides what the texts of others say.
   */
  add(value: string, owner?: string): void;
  /** Forgets the values that only this owner has. */
  forget(owner: string): void;
  /**
   * Notes the source of a stack: texts about `stack` are also about `source`, and both share one limit.
   * To be called once the source is certain; the last call counts.
   */
  belongs(stack: string, source: string): void;
  /**
   * Notes that the configuration in the source `by` names `source` to deploy from: what that one adds
   * counts for the author of `by`, who may invent any number of names. The first one to name it counts.
   */
  names(source: string, by: string): void;
  /** Settles the source that owns a stack, and forgets the secrets of other sources that claimed it. */
  settle(stack: string, source: string): void;
  /**
   * Calls `ask` before each text that {@link redact} gets about a stack, so that the stack's secrets can
   * be added first. `ask` must be cheap: it is false while that takes longer, and the text is `***` then.
   * What it throws is ignored, and texts that come up meanwhile ask nothing. Returns a function that
   * ends this. `onCut` is told of stacks of whose secrets some were forgotten for want of room.
   */
  asks(ask: (key: StackKey) => boolean, onCut?: (key: StackKey) => void): () => void;
  /**
   * `text` with every known secret and every URL's user information replaced by `***`. `about` has the
   * owners that the text is about, whose words are masked in it; {@link EVERYONE} for those of all.
   */
  redact(text: string, ...about: readonly string[]): string;
  /** As {@link redact}, by what is known already: for {@link isRoutine} texts, and for what is no text to tell. */
  redactKnown(text: string, ...about: readonly string[]): string;
}

/** Most stacks whose source is remembered; the least recently noted are forgotten first. */
const MOST_STACKS = 100_000;

/** Cost of an owner of words, in characters. */
const OWNER_COST = 4000;

const MASK = "***";
/** Length of one value that is made unprintable; what belongs to a repository is refused before. */
const MOST_CHARACTERS = 64 * 1024;
/** Number of its lines that are so each by itself. */
const MOST_LINES = 1000;
/** Query values that commonly carry credentials. */
const SECRET_QUERY =
  /([?&](?:access_token|api_key|apikey|password|private_token|secret|token)=)[^&\s"']+/gi;
/** The header that carries credentials, as programs show it when they are asked to be verbose. */
const AUTHORIZATION =
  /(\bauthorization["']?\s{0,9}[:=]\s{0,9}["']?(?:[a-z]{1,20}\s{1,9})?)[\w.~+/=-]{8,}/gi;

/** A redactor that knows no secret yet; `limits` are those of what it knows of repositories. */
export function createRedactor(limits: FormLimits = FORM_LIMITS): Redactor {
  const asked = new AskedStacks();
  const known = new KnownSecrets(limits, (owner) => asked.cut(owner));
  const redactKnown = (text: string, ...about: readonly string[]) => {
    let masked = maskKnown(text, known.about(about), MASK);
    // Every answer and every line comes by here, and few of them have a URL or an assignment.
    if (masked.includes("://")) masked = maskUserInformation(masked);
    masked = masked.replace(AUTHORIZATION, `$1${MASK}`);
    if (!masked.includes("=")) return masked;
    return maskAssignments(masked.replace(SECRET_QUERY, `$1${MASK}`));
  };
  return {
    add(value, owner = "") {
      const text = value.slice(0, MOST_CHARACTERS);
      const lines = text.split(/\r?\n/, MOST_LINES).map((line) => line.trim());
      const pieces = [text, text.trim(), ...(lines.length > 1 ? lines.filter(worthHiding) : [])];
      known.add(new Set(pieces), owner);
    },
    forget: (owner) => known.forget(owner),
    belongs: (stack, source) => known.belongs(stack, source),
    names: (source, by) => known.names(source, by),
    settle: (stack, source) => known.settle(stack, source),
    asks: (ask, onCut) => asked.set(ask, onCut),
    redact(text, ...about) {
      if (!asked.about(about) && text !== "") return MASK;
      return redactKnown(text, ...about);
    },
    redactKnown,
  };
}

/** What is known of the program, of sources and of stacks. */
class KnownSecrets {
  readonly #limits: FormLimits;
  /** What is masked everywhere. */
  readonly #everywhere: KnownTexts;
  /** Words of each owner. */
  readonly #words = new Map<string, KnownTexts>();
  readonly #sources = new Map<string, string>();
  /** Sources that configurations name, with the source of the first of these. */
  readonly #named = new Map<string, string>();
  readonly #onCut: (owner: string) => void;
  /** Claims by the stack that they are about. */
  readonly #claims = new Map<string, Set<string>>();
  #size = 0;

  constructor(limits: FormLimits, onCut: (owner: string) => void) {
    this.#limits = limits;
    this.#onCut = onCut;
    this.#everywhere = new KnownTexts(limits);
  }

  add(pieces: Iterable<string>, owner: string): void {
    const belonging = { owner, group: this.#groupOf(owner) };
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
    while (this.#everywhere.size + this.#size > this.#limits.all) {
      const largest = this.#largest();
      if (largest === undefined) break;
      this.#halve(largest);
    }
  }

  forget(owner: string): void {
    for (const claim of this.#claims.get(owner) ?? []) this.forget(claim);
    const [stack = ""] = partsOf(owner);
    const claims = this.#claims.get(stack);
    if (claims?.delete(owner) && claims.size === 0) this.#claims.delete(stack);
    this.#everywhere.forget(owner);
    const words = this.#words.get(owner);
    if (words !== undefined) this.#size -= words.size + OWNER_COST;
    this.#words.delete(owner);
  }

  belongs(stack: string, source: string): void {
    // The last one is the one that was heard of last.
    this.#sources.delete(stack);
    this.#sources.set(stack, source);
    const [oldest] = this.#sources.keys();
    if (this.#sources.size > MOST_STACKS && oldest !== undefined) this.#sources.delete(oldest);
  }

  names(source: string, by: string): void {
    if (source === by || this.#named.has(source)) return;
    this.#named.set(source, by);
    const [oldest] = this.#named.keys();
    if (this.#named.size > MOST_STACKS && oldest !== undefined) this.#named.delete(oldest);
  }

  settle(stack: string, source: string): void {
    this.belongs(stack, source);
    for (const claim of this.#claims.get(stack) ?? []) {
      if (claim !== claimOf(stack, source)) this.forget(claim);
    }
  }

  /** What is masked in a text about owners. */
  about(owners: readonly string[]): readonly KnownTexts[] {
    const all = this.#everywhere.size === 0 ? [] : [this.#everywhere];
    if (this.#words.size === 0) return all;
    if (owners.includes(EVERYONE)) return [...all, ...this.#words.values()];
    for (const owner of owners) {
      for (const each of [owner, this.#sources.get(owner), ...this.#claims.get(owner) ?? []]) {
        const words = each === undefined ? undefined : this.#words.get(each);
        if (words !== undefined && !all.includes(words)) all.push(words);
      }
    }
    return all;
  }

  #halve(owner: string): void {
    this.#onCut(owner);
    this.#everywhere.halve(owner);
    const words = this.#words.get(owner);
    if (words === undefined) return;
    this.#size -= words.size;
    words.halve(owner);
    this.#size += words.size;
    if (words.size === 0) this.forget(owner);
  }

  #wordsOf(owner: string): KnownTexts {
    const before = this.#words.get(owner);
    if (before !== undefined) return before;
    const words = new KnownTexts(this.#limits);
    this.#words.set(owner, words);
    const [stack] = partsOf(owner);
    if (stack !== undefined) {
      this.#claims.set(stack, (this.#claims.get(stack) ?? new Set()).add(owner));
    }
    this.#size += OWNER_COST;
    return words;
  }

  #groupOf(owner: string): string {
    return partsOf(owner)[1] ?? this.#sources.get(owner) ?? owner;
  }

  /** The largest owner of the author with the most: one may divide what he has among many owners. */
  #largest(): string | undefined {
    const sizes = new Map<string, Map<string, number>>();
    const configurations = new Set(this.#sources.values());
    const count = (owner: string, group: string, size: number) => {
      // Whoever names the repository of another one, which has stacks by itself, does not count for it.
      const by = configurations.has(group) ? undefined : this.#named.get(group);
      const author = authorOf(by ?? group);
      const own = sizes.get(author) ?? new Map<string, number>();
      sizes.set(author, own.set(owner, (own.get(owner) ?? 0) + size));
    };
    for (const { owner, group, size } of this.#everywhere.sizes()) count(owner, group, size);
    for (const [owner, { size }] of this.#words) {
      count(owner, this.#groupOf(owner), size + OWNER_COST);
    }
    // The program's own stay.
    sizes.delete("");
    const most = largest(sizes.values(), (each) => [...each.values()].reduce((a, b) => a + b, 0));
    return most && largest(most, ([, size]) => size)?.[0];
  }
}

/** The one with the largest size that has any. */
function largest<T>(all: Iterable<T>, sizeOf: (each: T) => number): T | undefined {
  let found: T | undefined;
  let most = 0;
  for (const each of all) {
    const size = sizeOf(each);
    if (size > most) [found, most] = [each, size];
  }
  return found;
}

/** A value as it is assigned: between quotes, which may be missing at its end, or without. */
const ASSIGNED = /"[^"\n]{6,}"?|'[^'\n]{6,}'?|[^\s"'=*&][^\s"'&]{5,}/y;

/** Assignments, as containers print their environment and people write it into a wrong place. */
function maskAssignments(text: string): string {
  let result = "";
  let shown = 0;
  for (let at = text.indexOf("="); at >= 0;) {
    const name = nameBefore(text, at, isDottedPart);
    const isSecret = name !== "" && !/^(?:auth|keys?|private)$/i.test(name) && soundsSecret(name);
    const end = isSecret ? endOf(ASSIGNED, text, at + 1) : at + 1;
    if (end > at + 1) {
      result += text.slice(shown, at + 1) + MASK;
      shown = text[end - 1] === "…" ? end - 1 : end;
    }
    at = text.indexOf("=", end);
  }
  return shown === 0 ? text : result + text.slice(shown);
}
