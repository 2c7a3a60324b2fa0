import type { StackKey } from "../model/mod.ts";
import { FORM_LIMITS, type FormLimits, KnownTexts, largest } from "./known_texts.ts";
import { endOf, isDottedPart, nameBefore } from "./named_values.ts";
import { looksRandom, soundsSecret, worthHiding } from "./secret_texts.ts";
import { maskUserInformation } from "./user_information.ts";

/**
 * The one place that keeps secrets out of what Stackwright says. It stands in front of logs, errors,
 * runs and responses. Values are added when they become known; those
 * of a repository belong to its deployment, and are bounded and forgotten with it.
 */
export interface Redactor {
  /**
   * Makes `value`, each of its lines, and all {@link writtenForms} of them unprintable. Values shorter
   * than {@link SHORTEST_SECRET} are ignored: replacing them would blank out ordinary words. May be
   * called again with the same value. `owner` is what the value belongs to; those of the program itself
   * have none, and are never forgotten. Ordinary words of a stack ({@link stackAsOwner}) are masked in
   * texts about it alone: nobody decides what the texts of others say.
   */
  add(value: string, owner?: string): void;
  /** Forgets the values that only this owner has. */
  forget(owner: string): void;
  /**
   * `text` with every known secret and every URL's user information replaced by `***`. `about` is the
   * owner that the text is about, or {@link NO_STACK}; without it words of all of them are masked.
   */
  redact(text: string, about?: string): string;
}

/** The owner of a text that is about no stack. */
export const NO_STACK = "";

/** A stack, as what its secrets belong to and what texts are about. */
export function stackAsOwner({ context, name }: StackKey): string {
  return `${STACK}${context}/${name}`;
}

const STACK = "stack ";
/** Stacks whose ordinary words are known; those that were not heard of for longest are forgotten first. */
const MOST_STACKS = 1000;

const MASK = "***";
/** Length of one value that is made unprintable; what belongs to a repository is refused before. */
const MOST_CHARACTERS = 64 * 1024;
/** Size of what tells beginnings apart where there are few of them, as a power of two. */
const BITS_OF_FEW = 10;
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
  const known = new KnownTexts(undefined, limits);
  const words = new Map<string, KnownTexts>();
  const wordsOf = (owner: string) => {
    const found = words.get(owner) ?? new KnownTexts(BITS_OF_FEW, limits);
    // The last one is the one that was heard of last.
    words.delete(owner);
    words.set(owner, found);
    const [oldest] = words.keys();
    if (words.size > MOST_STACKS && oldest !== undefined) words.delete(oldest);
    return found;
  };
  return {
    add(value, owner = "") {
      const text = value.slice(0, MOST_CHARACTERS);
      const lines = text.split(/\r?\n/, MOST_LINES).map((line) => line.trim());
      const pieces = [text, text.trim(), ...(lines.length > 1 ? lines.filter(worthHiding) : [])];
      for (const piece of new Set(pieces)) {
        const isWord = owner.startsWith(STACK) && !looksRandom(piece);
        (isWord ? wordsOf(owner) : known).add(piece, owner);
      }
      forgetLargest(words, 2 * limits.all);
    },
    forget(owner) {
      known.forget(owner);
      words.delete(owner);
    },
    redact(text, about) {
      let masked = known.mask(text, MASK);
      for (const each of about === undefined ? words.values() : [words.get(about)]) {
        masked = each?.mask(masked, MASK) ?? masked;
      }
      // Every answer and every line comes by here, and few of them have a URL or an assignment.
      if (masked.includes("://")) masked = maskUserInformation(masked);
      masked = masked.replace(AUTHORIZATION, `$1${MASK}`);
      if (!masked.includes("=")) return masked;
      return maskAssignments(masked.replace(SECRET_QUERY, `$1${MASK}`));
    },
  };
}

/** Forgets the words of those who have most, while they are more than may be known of all. */
function forgetLargest(words: Map<string, KnownTexts>, most: number): void {
  let size = [...words.values()].reduce((sum, each) => sum + each.size, 0);
  while (size > most) {
    const owner = largest(words);
    if (owner === undefined) return;
    size -= words.get(owner)?.size ?? 0;
    words.delete(owner);
  }
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
