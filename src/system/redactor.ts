import { Buffer } from "node:buffer";

/**
 * The one place that keeps secrets out of what Stackwright says. It stands in front of logs, errors,
 * runs and responses. Values are added when they become known and never removed.
 */
export interface Redactor {
  /**
   * Makes `value`, each of its lines, and its JSON, URL and base64 forms unprintable. Values shorter than
   * {@link SHORTEST_SECRET} are ignored: replacing them would blank out ordinary words. May be
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
/** Query values that commonly carry credentials. */
const SECRET_QUERY =
  /([?&](?:access_token|api_key|apikey|password|private_token|secret|token)=)[^&\s"']+/gi;

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  let pattern: RegExp | undefined;
  return {
    add(value) {
      const before = known.size;
      for (const form of forms(value)) known.add(form);
      if (known.size !== before) pattern = undefined;
    },
    redact(text) {
      pattern ??= compile(known);
      const masked = mask(text, pattern);
      // Every answer and every line comes by here, and few of them have a URL.
      const bare = masked.includes("://") ? masked.replace(USER_INFORMATION, `$1${MASK}@`) : masked;
      return bare.includes("=") ? bare.replace(SECRET_QUERY, `$1${MASK}`) : bare;
    },
  };
}

/**
 * `text` with every match of `pattern` masked, also those that begin inside another one: secrets may
 * overlap, and no end of one may stay visible.
 */
function mask(text: string, pattern: RegExp): string {
  let result = "";
  let shown = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const end = match.index + match[0].length;
    if (match.index >= shown) result += text.slice(shown, match.index) + MASK;
    shown = Math.max(shown, end);
    pattern.lastIndex = match.index + 1;
  }
  return result + text.slice(shown);
}

/** The ways one secret can appear in a text. */
function forms(value: string): string[] {
  const pieces = [value, value.trim(), ...value.split(/\r?\n/).map((line) => line.trim())];
  const all = pieces.flatMap((piece) => [
    piece,
    JSON.stringify(piece).slice(1, -1),
    encodeURIComponentSafely(piece),
    ...base64Forms(piece),
    // Compose doubles the dollar when it prints a value.
    piece.replaceAll("$", "$$$$"),
  ]);
  return all.filter((form) => form.length >= SHORTEST_SECRET);
}

/** Shortest part of an encoded text that is told from ordinary words. */
const SHORTEST_ENCODED = 6;

/**
 * The base64 of a text, alone and as part of a longer text that was encoded (`user:password`): there
 * it begins at one of three places inside a group, and its outer characters depend on its neighbours.
 */
function base64Forms(text: string): string[] {
  const parts = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, "utf8")]);
    const [first, end] = [Math.ceil(offset * 8 / 6), Math.floor(bytes.length * 8 / 6)];
    return bytes.toString("base64").slice(first, end);
  }).filter((part) => part.length >= SHORTEST_ENCODED);
  const all = [Buffer.from(text, "utf8").toString("base64"), ...parts];
  return all.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

function encodeURIComponentSafely(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // A lone surrogate has no URL form.
    return text;
  }
}

/** Longest first, so that a secret inside another one does not leave the other's ends visible. */
function compile(known: ReadonlySet<string>): RegExp {
  const longestFirst = [...known].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return /(?!)/g;
  return new RegExp(longestFirst.map(escapePattern).join("|"), "g");
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
