import { writtenForms } from "./secret_forms.ts";
import { looksRandom, soundsSecret, worthHiding } from "./secret_texts.ts";

/**
 * The one place that keeps secrets out of what Stackwright says. It stands in front of logs, errors,
 * runs and responses. Values are added when they become known and never removed.
 */
export interface Redactor {
  /**
   * Makes `value`, each of its lines, and all {@link writtenForms} of them unprintable. Values shorter
   * than {@link SHORTEST_SECRET} are ignored: replacing them would blank out ordinary words. May be
   * called again with the same value.
   */
  add(value: string): void;
  /** `text` with every known secret and every URL's user information replaced by `***`. */
  redact(text: string): string;
}

/** Length below which a value is not treated as a secret text. */
export const SHORTEST_SECRET = 4;

const MASK = "***";
/** User information of a URL: everything between the scheme and the last `@` of the authority. */
const USER_INFORMATION = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'`]+@/gi;
/** The same where a password has characters that do not belong into a URL; a port is none. */
const RAW_USER_INFORMATION =
  /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/:@"'`]*:(?!\d{1,5}(?:[/?#\s"'`]|$))[^\s"'`]+@/gi;
/** The same where the end of a URL was cut off, and its `@` with it. */
const CUT_USER_INFORMATION =
  /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/:@"'`]*:(?!\d{1,5}(?:[/?#…]))[^\s/"'`]*…/gi;
/** Query values that commonly carry credentials. */
const SECRET_QUERY =
  /([?&](?:access_token|api_key|apikey|password|private_token|secret|token)=)[^&\s"']+/gi;
/** Assignments, as containers print their environment and people write it into a wrong place. */
const ASSIGNMENT = /([A-Za-z_][\w.-]*)=("[^"\n]{6,}"?|'[^'\n]{6,}'?|[^\s"'=*&][^\s"'&]{5,})/g;
/** The header that carries credentials, as programs show it when they are asked to be verbose. */
const AUTHORIZATION = /(\bauthorization["']?\s*[:=]\s*["']?(?:[a-z]+\s+)?)[\w.~+/=-]{8,}/gi;

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const known = new KnownTexts();
  return {
    add(value) {
      const lines = value.split(/\r?\n/).map((line) => line.trim());
      const pieces = [value, value.trim(), ...(lines.length > 1 ? lines.filter(worthHiding) : [])];
      for (const piece of new Set(pieces)) known.add(piece);
    },
    redact(text) {
      let masked = mask(text, known);
      // Every answer and every line comes by here, and few of them have a URL or an assignment.
      if (masked.includes("://")) {
        masked = masked.replace(USER_INFORMATION, `$1${MASK}@`)
          .replace(RAW_USER_INFORMATION, `$1${MASK}@`)
          .replace(CUT_USER_INFORMATION, `$1${MASK}…`);
      }
      masked = masked.replace(AUTHORIZATION, `$1${MASK}`);
      if (!masked.includes("=")) return masked;
      return masked.replace(SECRET_QUERY, `$1${MASK}`).replace(ASSIGNMENT, maskAssignment);
    },
  };
}

/**
 * `value` with every text in it redacted, however deep. To be used before something is written as
 * JSON: in the finished text a mask could swallow what ends a string.
 */
export function redactTexts<T>(value: T, redact: (text: string) => string): T {
  return redacted(value, redact) as T;
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact));
  if (value === null || typeof value !== "object" || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, redacted(field, redact)]),
  );
}

/** `key=` is in too many messages of others; the names of our settings have more words. */
function maskAssignment(whole: string, name: string, value: string): string {
  if (/^(?:auth|keys?|private)$/i.test(name) || !soundsSecret(name)) return whole;
  const cut = value.endsWith("…") ? "…" : "";
  return `${name}=${MASK}${cut}`;
}

/**
 * `text` with every known one masked, also those that begin inside another one: secrets may overlap,
 * and no end of one may stay visible.
 */
function mask(text: string, known: KnownTexts): string {
  let result = "";
  let shown = 0;
  for (let at = known.next(text, 0); at >= 0; at = known.next(text, at + 1)) {
    const length = known.longestAt(text, at);
    if (length === 0) continue;
    if (at >= shown) result += text.slice(shown, at) + MASK;
    shown = Math.max(shown, at + length);
  }
  return result + text.slice(shown);
}

/**
 * Texts by how they begin, so that looking for all of them costs no more than looking for a few:
 * every deployment adds some, and every line of the log is searched.
 */
class KnownTexts {
  readonly #seen = new Set<string>();
  /** Longest first, so that a secret inside another one does not leave the other's end visible. */
  readonly #byBeginning = new Map<string, string[]>();
  /** Finds where one may begin; `undefined` after a new beginning. */
  #beginnings: RegExp | undefined;

  add(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    for (const form of writtenForms(text)) {
      if (form.length < SHORTEST_SECRET) continue;
      const beginning = form.slice(0, SHORTEST_SECRET);
      const others = this.#byBeginning.get(beginning) ?? [];
      if (others.length === 0) this.#beginnings = undefined;
      if (others.includes(form)) continue;
      this.#byBeginning.set(beginning, [...others, form].sort((a, b) => b.length - a.length));
    }
  }

  /** The first place from `from` on where a known text may begin; -1 when there is none. */
  next(text: string, from: number): number {
    this.#beginnings ??= anyOf([...this.#byBeginning.keys()]);
    this.#beginnings.lastIndex = from;
    return this.#beginnings.exec(text)?.index ?? -1;
  }

  /** Length of the longest known text that begins at a place, whole or cut off; 0 when none does. */
  longestAt(text: string, at: number): number {
    const candidates = this.#byBeginning.get(text.slice(at, at + SHORTEST_SECRET));
    if (candidates === undefined) return 0;
    const whole = candidates.find((each) => text.startsWith(each, at))?.length ?? 0;
    return Math.max(whole, ...candidates.map((each) => cutLength(each, text, at)));
  }
}

/** Much faster than looking every place up, since hardly any is the beginning of a secret. */
function anyOf(texts: readonly string[]): RegExp {
  if (texts.length === 0) return /(?!)/g;
  return new RegExp(texts.map((each) => each.replace(/[^\w]/gs, escapeUnit)).join("|"), "g");
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Length from which the beginning of a secret is masked, if it is no ordinary word. */
const LONG_BEGINNING = 12;
/** The same at the end of a text, where the rest may have been cut off. */
const LAST_BEGINNING = 8;
/** The same where it is plain that the rest was cut off. */
const CUT_BEGINNING = 6;

/** How much of the beginning of `secret` stands at a place of a text that somebody shortened. */
function cutLength(secret: string, text: string, at: number): number {
  let length = SHORTEST_SECRET;
  while (length < secret.length && secret[length] === text[at + length]) length++;
  if (text[at + length] === "…") return length >= CUT_BEGINNING ? length : 0;
  const least = at + length === text.length ? LAST_BEGINNING : LONG_BEGINNING;
  return length >= least && looksRandom(secret.slice(0, length)) ? length : 0;
}
